/*
 * maxpool forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/pool/maxpool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"maxpool_fwd", {"maxpool_fwd_f32", "maxpool_fwd_f16", "maxpool_fwd_bf16"}};
    static const pixels_kernel two = {"maxpool_fwd", {NULL, "maxpool_fwd_2x2_f16", "maxpool_fwd_2x2_bf16"}};
    struct maxpool_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    pixels_window(&args.window, p, out_size);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[MAXPOOL_X][i];
        args.plane[i].y = b->plane[MAXPOOL_Y][i];
    }
    if (pixels_are_three(PIXELS(&args), &args.window, p))
        return pixels_launch(PIXELS(&args), p, out_size, d, &functions);
    if (pixels_are_two(PIXELS(&args), &args.window, p))
        return pixels_launch_places(PIXELS(&args), p, out_size, d, &two);
    return pixels_launch_places(PIXELS(&args), p, out_size, d, &functions);
}

const kernel_functions maxpool_fwd__cuda_direct = {
    .supports = pixels_refuse_windows, .cost = launch_cost, .launch = launch};
