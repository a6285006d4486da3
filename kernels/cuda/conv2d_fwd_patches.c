/*
 * conv2d forward for few channels on both sides on CUDA's tensor cores: all streams in one launch of
 * conv2d_fwd_patches.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_patches_launch.h"

const kernel_functions conv2d_fwd__cuda_patches = {
    .supports = conv2d_patches_refuses, .cost = conv2d_patches_cost, .launch = conv2d_patches_launch};
