/*
 * conv2d forward and conv2d_scale_bias_act for few input channels on CUDA: all streams in one launch of
 * conv2d_fwd_lines.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_lines_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {NULL, "conv2d_fwd_lines_64_f16", "conv2d_fwd_lines_64_bf16"},
        {NULL, "conv2d_fwd_lines_16_f16", "conv2d_fwd_lines_16_bf16"},
        {NULL, "conv2d_fwd_lines_8_f16", "conv2d_fwd_lines_8_bf16"},
    };
    struct conv2d_lines_args args;
    (void)state;
    return conv2d_lines_launch(&args, p, d, "conv2d_fwd_lines", names, b);
}

const kernel_functions conv2d_fwd__cuda_lines = {
    .supports = conv2d_lines_refuses, .cost = conv2d_lines_cost, .launch = launch};

const kernel_functions conv2d_scale_bias_act__cuda_lines = {
    .supports = conv2d_lines_refuses, .cost = conv2d_lines_cost, .launch = launch};
