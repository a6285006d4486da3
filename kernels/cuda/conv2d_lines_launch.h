/*
 * What the launchers of the convolutions for few input channels share: the tiles and the argument of a problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_LINES_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_LINES_LAUNCH_H

#include "kernels/cuda/conv2d_lines.h"
#include "kernels/cuda/launch.h"

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_lines_refuses(const braid_problem *p, const device *d);

/* The argument of a problem that is not refused, and the pointers where b is not NULL. False where its blocks are too
 * many for one launch. */
int conv2d_lines_fill(struct conv2d_lines_args *args, const braid_problem *p, const buffers *b);

/* Fills the argument and launches the function of the problem's width (names: for 64, 16 and 8 output channels of a
 * block, then of bwd_weight those for raw planes) and dtype. */
braid_status conv2d_lines_launch(struct conv2d_lines_args *args, const braid_problem *p, device *d, const char *stem,
                                 const launch_names *names, const buffers *b);

/* Predicted seconds: memory at full speed and the tensor cores at some. */
double conv2d_lines_cost(const braid_problem *p);

#endif
