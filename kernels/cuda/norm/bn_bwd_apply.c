/*
 * bn_bwd_apply on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_bwd_apply",
                                            {"bn_bwd_apply_f32", "bn_bwd_apply_f16", "bn_bwd_apply_bf16"}};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BN_BWD_APPLY_X][i];
        args.plane[i].dy = b->plane[BN_BWD_APPLY_DY][i];
        args.plane[i].center = b->plane[BN_BWD_APPLY_CENTER][i];
        args.plane[i].rstd = b->plane[BN_BWD_APPLY_RSTD][i];
        args.plane[i].gamma = b->plane[BN_BWD_APPLY_GAMMA][i];
        args.plane[i].dgamma = b->plane[BN_BWD_APPLY_DGAMMA][i];
        args.plane[i].dbeta = b->plane[BN_BWD_APPLY_DBETA][i];
        args.plane[i].mask = b->plane[BN_BWD_APPLY_MASK][i];
        args.plane[i].dx = b->plane[BN_BWD_APPLY_DX][i];
    }
    return pixels_launch(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions bn_bwd_apply__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
