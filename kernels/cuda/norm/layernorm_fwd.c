/*
 * layernorm forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/norm/rows.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"rows", {"layernorm_fwd_f32", "layernorm_fwd_f16", "layernorm_fwd_bf16"}};
    struct layernorm_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.eps = p->eps;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[LAYERNORM_X][i];
        args.plane[i].gamma = b->plane[LAYERNORM_GAMMA][i];
        args.plane[i].beta = b->plane[LAYERNORM_BETA][i];
        args.plane[i].y = b->plane[LAYERNORM_Y][i];
    }
    return pixels_launch_rows(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions layernorm_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
