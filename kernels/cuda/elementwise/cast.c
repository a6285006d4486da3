/*
 * cast on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/cast.h"
#include "kernels/cuda/launch/pixels_launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    return p->to == BRAID_DTYPE_F64 ? "there are no CUDA kernels with f64" : pixels_refuse(p, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"cast", {"cast_f32", "cast_f16", "cast_bf16"}};
    struct cast_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.to = (int32_t)p->to;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[CAST_X][i];
        args.plane[i].y = b->plane[CAST_Y][i];
    }
    return pixels_launch_flat(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions cast__cuda_direct = {.supports = supports, .cost = launch_cost, .launch = launch};
