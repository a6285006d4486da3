/*
 * bias on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bias", {"bias_fwd_f32", "bias_fwd_f16", "bias_fwd_bf16"}};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BIAS_X][i];
        args.plane[i].z = b->plane[BIAS_BIAS][i];
        args.plane[i].mask = b->plane[BIAS_MASK][i];
        args.plane[i].y = b->plane[BIAS_Y][i];
    }
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions bias_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
