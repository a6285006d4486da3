/*
 * maxpool gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/pool/maxpool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"maxpool_bwd_data",
                                            {"maxpool_bwd_data_f32", "maxpool_bwd_data_f16", "maxpool_bwd_data_bf16"}};
    static const pixels_kernel slide = {"maxpool_bwd_data",
                                        {"maxpool_slide_f32", "maxpool_slide_f16", "maxpool_slide_bf16"}};
    static const pixels_kernel apart = {"maxpool_bwd_data",
                                        {"maxpool_apart_f32", "maxpool_apart_f16", "maxpool_apart_bf16"}};
    static const pixels_kernel two = {"maxpool_bwd_data", {NULL, "maxpool_2x2_f16", "maxpool_2x2_bf16"}};
    struct maxpool_bwd_data_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    pixels_window(&args.window, p, out_size);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[MAXPOOL_X][i];
        args.plane[i].dy = b->plane[MAXPOOL_Y][i];
        args.plane[i].dx = b->plane[MAXPOOL_DX][i];
    }
    if (pixels_can_slide(PIXELS(&args), &args.window, p))
        return pixels_launch_slide(PIXELS(&args), &args.window, p, d, &slide);
    if (pixels_are_two(PIXELS(&args), &args.window, p))
        return pixels_launch_places(PIXELS(&args), p, out_size, d, &two);
    if (pixels_are_apart(&args.window)) return pixels_launch_places(PIXELS(&args), p, out_size, d, &apart);
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions maxpool_bwd_data__cuda_direct = {
    .supports = pixels_refuse_windows, .cost = launch_cost, .launch = launch};
