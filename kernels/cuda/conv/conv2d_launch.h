/*
 * What the launchers of the three convolution passes share: the argument of a problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_CONV2D_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_CONV2D_LAUNCH_H

#include "kernels/cuda/conv/conv2d.h"
#include "kernels/cuda/launch/launch.h"

/* Why the CUDA kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_refuses(const braid_problem *p, const device *d);

/* The argument of a problem that is not refused: shape, options and blocks, and the pointers where b is not NULL. */
void conv2d_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b);

/* Launches the function of the problem's dtype with a filled argument. */
braid_status conv2d_launch(const struct conv2d_args *args, device *d, braid_dtype dtype, const char *stem,
                           const launch_names *names);

#endif
