/*
 * bn_act_pool data gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_fused.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {
        "bn_bwd_apply", {"bn_act_pool_bwd_apply_f32", "bn_act_pool_bwd_apply_f16", "bn_act_pool_bwd_apply_bf16"}};
    static const pixels_kernel slide = {"bn_bwd_apply",
                                        {"bn_act_pool_slide_f32", "bn_act_pool_slide_f16", "bn_act_pool_slide_bf16"}};
    struct pixel_args args;
    (void)state;
    bn_fused_fill(&args, p, b);
    if (args.train && pixels_can_slide(PIXELS(&args), &args.window, p))
        return pixels_launch_slide(PIXELS(&args), &args.window, p, d, &slide);
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions bn_act_pool_bwd_data__cuda_direct = {
    .supports = pixels_refuse_windows, .cost = launch_cost, .launch = launch};
