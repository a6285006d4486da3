/*
 * bn_add_act forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_fused.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_apply", {"bn_add_act_f32", "bn_add_act_f16", "bn_add_act_bf16"}};
    struct pixel_args args;
    (void)state;
    bn_fused_fill(&args, p, b);
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions bn_add_act_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
