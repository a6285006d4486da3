/*
 * avgpool gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/pool/avgpool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel any = {"avgpool_bwd_data",
                                      {"avgpool_bwd_data_f32", "avgpool_bwd_data_f16", "avgpool_bwd_data_bf16"}},
                               whole = {"avgpool_bwd_data",
                                        {"avgpool_bwd_data_whole_f32", "avgpool_bwd_data_whole_f16",
                                         "avgpool_bwd_data_whole_bf16"}};
    struct avgpool_bwd_data_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    pixels_window(&args.window, p, p->out_size);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].dy = b->plane[AVGPOOL_Y][i];
        args.plane[i].dx = b->plane[AVGPOOL_X][i];
    }
    return pixels_launch(PIXELS(&args), p, p->size, d, p->out_size[0] == 1 && p->out_size[1] == 1 ? &whole : &any);
}

const kernel_functions avgpool_bwd_data__cuda_direct = {
    .supports = pixels_refuse_windows, .cost = launch_cost, .launch = launch};
