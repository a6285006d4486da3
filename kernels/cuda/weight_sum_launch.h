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

#endif
