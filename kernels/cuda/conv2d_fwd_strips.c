/*
 * conv2d forward for few channels on both sides on CUDA: all streams in one launch of conv2d_fwd_strips.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_strips_launch.h"

const kernel_functions conv2d_fwd__cuda_strips = {
    .supports = conv2d_strips_refuses, .cost = conv2d_strips_cost, .launch = conv2d_strips_forward};
