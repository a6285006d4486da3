/*
 * What the launchers of the convolutions for few channels on both sides share: the tiles and the argument of a problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_STRIPS_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_STRIPS_LAUNCH_H

#include "kernels/cuda/conv2d_strips.h"
#include "kernels/cuda/launch.h"

/* Why these kernels cannot do a convolution, in words; NULL: they can. */
const char *conv2d_strips_refuses(const braid_problem *p, const device *d);

/* The argument of a problem that is not refused, and the pointers where b is not NULL; the bytes of shared memory.
 * 0 where its blocks are too many for one launch or no tile fits. */
int64_t conv2d_strips_fill(struct conv2d_strips_args *args, const braid_problem *p, const buffers *b);

/* Launches forward (for the data gradient too) or the first stage of the weight gradient. */
braid_status conv2d_strips_forward(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status conv2d_strips_weight(struct conv2d_strips_args *args, const braid_problem *p, device *d, const buffers *b);

/* Predicted seconds. */
double conv2d_strips_cost(const braid_problem *p);

#endif
