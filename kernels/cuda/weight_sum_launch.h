/*
 * The launch of weight_sum, for the launchers of weight gradients.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_WEIGHT_SUM_LAUNCH_H
#define BRAID_KERNELS_CUDA_WEIGHT_SUM_LAUNCH_H

#include "kernels/cuda/launch.h"
#include "kernels/cuda/weight_sum.h"

/* Adds the parts. The caller fills the planes, parts and workspace of `args`, the division of the launch is made
 * here. */
braid_status weight_sum_launch(struct weight_sum_args *args, device *d, braid_dtype dtype);

/* The same for a convolution: a part holds its planes one behind the other, each [filters][r, s, c, then the bias]. */
braid_status weight_sum_conv2d(const braid_problem *p, int32_t parts, device *d, const buffers *b);

/* Bytes of the workspace for so many parts of a convolution. */
braid_status weight_sum_bytes(const braid_problem *p, int64_t parts, size_t *bytes);

/* Why weight_sum_conv2d cannot do a convolution, in words; NULL: it can. */
const char *weight_sum_refuses(const braid_problem *p);

#endif
