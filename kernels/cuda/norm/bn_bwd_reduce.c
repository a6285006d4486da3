/*
 * bn_bwd_reduce on CUDA, one launch for all streams: sums of parts of the pixels, and by the last blocks the sums of
 * those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bn_gradients), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_bwd_reduce",
                                            {"bn_bwd_reduce_f32", "bn_bwd_reduce_f16", "bn_bwd_reduce_bf16"}};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BN_BWD_REDUCE_X][i];
        args.plane[i].dy = b->plane[BN_BWD_REDUCE_DY][i];
        args.plane[i].center = b->plane[BN_BWD_REDUCE_CENTER][i];
        args.plane[i].rstd = b->plane[BN_BWD_REDUCE_RSTD][i];
        args.plane[i].mask = b->plane[BN_BWD_REDUCE_MASK][i];
        args.plane[i].dgamma = b->plane[BN_BWD_REDUCE_DGAMMA][i];
        args.plane[i].dbeta = b->plane[BN_BWD_REDUCE_DBETA][i];
    }
    return pixels_launch_columns(&args, p, p->size, b, d, &functions, "bn_bwd_reduce_parts");
}

const kernel_functions bn_bwd_reduce__cuda_direct = {.supports = pixels_refuse_columns,
                                                     .cost = launch_cost,
                                                     .create = create,
                                                     .launch = launch,
                                                     .destroy = launch_destroy};
