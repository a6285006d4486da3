/*
 * conv2d data gradient on CUDA: all streams in one launch of conv2d_bwd_data.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/conv2d_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"conv2d_bwd_data_f32", "conv2d_bwd_data_f16", "conv2d_bwd_data_bf16"};
    struct conv2d_args args;
    (void)state;
    conv2d_fill(&args, p, b);
    return conv2d_launch(&args, d, p->dtype, "conv2d_bwd_data", &names);
}

const kernel_functions conv2d_bwd_data__cuda_direct = {
    .supports = conv2d_refuses, .cost = launch_cost, .launch = launch};
