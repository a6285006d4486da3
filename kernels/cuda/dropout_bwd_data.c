/*
 * dropout gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"dropout", {"dropout_f32", "dropout_f16", "dropout_bf16"}};
    struct pixel_args args;
    (void)state;
    pixels_begin(&args, p);
    args.key = b->plane[DROPOUT_KEY][0];
    args.limit = dropout_limit(p);
    args.kept = (float)(1 / (1 - p->rate));
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[DROPOUT_Y][i];
        args.plane[i].y = b->plane[DROPOUT_X][i];
    }
    return pixels_launch(&args, p, p->size, d, &functions);
}

const kernel_functions dropout_bwd_data__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .launch = launch};
