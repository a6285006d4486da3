/*
 * What the launchers of the tensor-core convolution for few channels on both sides share: the tiles and the argument of
 * a problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_PATCHES_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV2D_PATCHES_LAUNCH_H

#include "kernels/cuda/conv2d_patches.h"
#include "kernels/cuda/launch.h"

/* Why this kernel cannot do a convolution, in words; NULL: it can. */
const char *conv2d_patches_refuses(const braid_problem *p, const device *d);

/* Predicted seconds. */
double conv2d_patches_cost(const braid_problem *p);

/* Launches fwd or bwd_data. */
braid_status conv2d_patches_launch(const braid_problem *p, device *d, void *state, const buffers *b);

#endif
