/*
 * What the launchers of the convolutions on sm_80's tensor cores share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_IGEMM_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_IGEMM_LAUNCH_H

#include "kernels/cuda/conv2d_launch.h"

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_igemm_refuses(const braid_problem *p, const device *d);

/* The argument of a problem that is not refused, with the blocks of these kernels. False where they are too many. */
int conv2d_igemm_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b);

/* Fills the argument and launches the function of the problem's dtype. */
braid_status conv2d_igemm_launch(struct conv2d_args *args, const braid_problem *p, device *d, const char *stem,
                                 const launch_names *names, const buffers *b);

double conv2d_igemm_cost(const braid_problem *p);

#endif
