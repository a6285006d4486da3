/*
 * conv2d forward and conv2d_scale_bias_act on sm_80's tensor cores: all streams in one launch of conv2d_fwd_igemm.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_igemm_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_fwd_igemm_f16", "conv2d_fwd_igemm_bf16"};
    struct conv2d_args args;
    (void)state;
    return conv2d_igemm_launch(&args, p, d, "conv2d_fwd_igemm", &names, b);
}

const kernel_functions conv2d_fwd__cuda_igemm = {
    .supports = conv2d_igemm_refuses, .cost = conv2d_igemm_cost, .launch = launch};

const kernel_functions conv2d_scale_bias_act__cuda_igemm = {
    .supports = conv2d_igemm_refuses, .cost = conv2d_igemm_cost, .launch = launch};
