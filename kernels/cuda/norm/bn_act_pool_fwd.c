/*
 * bn_act_pool forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_fused.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_act_pool_fwd",
                                            {"bn_act_pool_fwd_f32", "bn_act_pool_fwd_f16", "bn_act_pool_fwd_bf16"}};
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    struct pixel_args args;
    (void)state;
    bn_fused_fill(&args, p, b);
    return pixels_launch(PIXELS(&args), p, out_size, d, &functions);
}

const kernel_functions bn_act_pool_fwd__cuda_direct = {
    .supports = pixels_refuse_windows, .cost = launch_cost, .launch = launch};
