/*
 * bn_stats on CUDA, one launch for all streams: sums of parts of the pixels, and by the last blocks the sums of those.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bn_moments), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"bn_stats", {"bn_stats_f32", "bn_stats_f16", "bn_stats_bf16"}};
    struct pixel_args args;
    (void)state;
    pixel_args_begin(&args, p);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BN_STATS_X][i];
        args.plane[i].mask = b->plane[BN_STATS_MASK][i];
        args.plane[i].mean = b->plane[BN_STATS_MEAN][i];
        args.plane[i].var = b->plane[BN_STATS_VAR][i];
    }
    return pixels_launch_columns(&args, p, p->size, b, d, &functions, "bn_stats_parts");
}

const kernel_functions bn_stats__cuda_direct = {.supports = pixels_refuse_columns,
                                                .cost = launch_cost,
                                                .create = create,
                                                .launch = launch,
                                                .destroy = launch_destroy};
