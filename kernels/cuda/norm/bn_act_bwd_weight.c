/*
 * bn_act weight gradients on CUDA, one launch for all streams: the sums of parts of the pixels, and by the last
 * blocks the sums of those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_fused.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bn_gradients), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel straight = {"bn_bwd_reduce", {"bn_act_sums_f32", "bn_act_sums_f16", "bn_act_sums_bf16"}};
    static const pixels_kernel curved = {
        "bn_bwd_reduce", {"bn_act_sums_curved_f32", "bn_act_sums_curved_f16", "bn_act_sums_curved_bf16"}};
    struct pixel_args args;
    (void)state;
    bn_fused_fill(&args, p, b);
    const pixels_kernel *functions = pixels_are_straight(p) ? &straight : &curved;
    return pixels_launch_columns(&args, p, p->size, b, d, functions, "bn_bwd_reduce_parts");
}

const kernel_functions bn_act_bwd_weight__cuda_direct = {.supports = pixels_refuse_columns,
                                                         .cost = launch_cost,
                                                         .create = create,
                                                         .launch = launch,
                                                         .destroy = launch_destroy};
