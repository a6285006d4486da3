/*
 * bn_dapply on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_dapply", {"bn_dapply_f32", "bn_dapply_f16", "bn_dapply_bf16"}};
    struct pixel_args args;
    (void)state;
    pixels_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BN_DAPPLY_X][i];
        args.plane[i].dy = b->plane[BN_DAPPLY_DY][i];
        args.plane[i].center = b->plane[BN_DAPPLY_CENTER][i];
        args.plane[i].rstd = b->plane[BN_DAPPLY_RSTD][i];
        args.plane[i].gamma = b->plane[BN_DAPPLY_GAMMA][i];
        args.plane[i].dgamma = b->plane[BN_DAPPLY_DGAMMA][i];
        args.plane[i].dbeta = b->plane[BN_DAPPLY_DBETA][i];
        args.plane[i].mask = b->plane[BN_DAPPLY_MASK][i];
        args.plane[i].dx = b->plane[BN_DAPPLY_DX][i];
    }
    return pixels_launch(&args, p, p->size, d, &functions);
}

const kernel_functions bn_dapply__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
