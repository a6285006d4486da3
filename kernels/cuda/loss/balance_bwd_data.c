/*
 * balance gradient on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/loss/balance_bwd_data.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"balance_bwd_data",
                                            {"balance_bwd_data_f32", "balance_bwd_data_f16", "balance_bwd_data_bf16"}};
    struct balance_bwd_data_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.eps = BALANCE_EPS;
    args.dloss = b->plane[BALANCE_LOSS][0];
    args.norms = b->plane[BALANCE_NORMS][0];
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BALANCE_X][i];
        args.plane[i].dx = b->plane[BALANCE_DX][i];
    }
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions balance_bwd_data__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .launch = launch};
