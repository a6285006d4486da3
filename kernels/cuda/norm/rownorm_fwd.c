/*
 * rownorm forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/norm/rows.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"rows", {"rownorm_fwd_f32", "rownorm_fwd_f16", "rownorm_fwd_bf16"}};
    const int64_t one_pixel[2] = {1, 1}; /* a row is a sample of one pixel */
    struct rownorm_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.eps = p->eps;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[ROWNORM_X][i];
        args.plane[i].y = b->plane[ROWNORM_Y][i];
    }
    return pixels_launch_rows(PIXELS(&args), p, one_pixel, d, &functions);
}

const kernel_functions rownorm_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
