/*
 * normalize on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"normalize", {"normalize_f32", "normalize_f16", "normalize_bf16"}};
    struct pixel_args args;
    (void)state;
    pixels_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[NORMALIZE_X][i];
        args.plane[i].center = b->plane[NORMALIZE_MEAN][i];
        args.plane[i].scale = b->plane[NORMALIZE_STD][i];
        args.plane[i].y = b->plane[NORMALIZE_Y][i];
    }
    return pixels_launch(&args, p, p->size, d, &functions);
}

const kernel_functions normalize__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
