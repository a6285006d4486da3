/*
 * bn_act data gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_fused.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel straight = {"bn_bwd_apply",
                                           {"bn_act_bwd_apply_f32", "bn_act_bwd_apply_f16", "bn_act_bwd_apply_bf16"}};
    static const pixels_kernel curved = {
        "bn_bwd_apply", {"bn_act_bwd_apply_curved_f32", "bn_act_bwd_apply_curved_f16", "bn_act_bwd_apply_curved_bf16"}};
    struct pixel_args args;
    (void)state;
    bn_fused_fill(&args, p, b);
    return pixels_launch(PIXELS(&args), p, p->size, d, pixels_are_straight(p) ? &straight : &curved);
}

const kernel_functions bn_act_bwd_data__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .launch = launch};
