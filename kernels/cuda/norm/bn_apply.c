/*
 * bn_apply on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_apply", {"bn_apply_f32", "bn_apply_f16", "bn_apply_bf16"}};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    args.activation = BRAID_ACTIVATION_NONE;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BN_APPLY_X][i];
        args.plane[i].scale = b->plane[BN_APPLY_SCALE][i];
        args.plane[i].shift = b->plane[BN_APPLY_SHIFT][i];
        args.plane[i].mask = b->plane[BN_APPLY_MASK][i];
        args.plane[i].y = b->plane[BN_APPLY_Y][i];
    }
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions bn_apply__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
