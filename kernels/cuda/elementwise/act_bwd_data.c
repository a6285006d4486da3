/*
 * act gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/act.h"
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"act_bwd_data",
                                            {"act_bwd_data_f32", "act_bwd_data_f16", "act_bwd_data_bf16"}};
    struct act_bwd_data_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.activation = (int32_t)p->activation;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[ACT_X][i];
        args.plane[i].dy = b->plane[ACT_Y][i];
        args.plane[i].dx = b->plane[ACT_DX][i];
    }
    return pixels_launch_flat(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions act_bwd_data__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
