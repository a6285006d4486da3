/*
 * avgpool forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"avgpool_fwd", {"avgpool_fwd_f32", "avgpool_fwd_f16", "avgpool_fwd_bf16"}};
    struct pixel_args args;
    (void)state;
    pixels_begin(&args, p);
    pixels_window(&args, p, p->out_size);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[AVGPOOL_X][i];
        args.plane[i].y = b->plane[AVGPOOL_Y][i];
    }
    return pixels_launch_windows(&args, p, b, d, &functions);
}

const kernel_functions avgpool_fwd__cuda_direct = {.supports = pixels_refuse_windows,
                                                   .cost = launch_cost,
                                                   .create = pixels_create_windows,
                                                   .launch = launch,
                                                   .destroy = launch_destroy};
