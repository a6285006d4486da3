/*
 * bn_stats_finalize on CUDA, one launch for all streams: the sums of bn_stats, and what bn_finalize makes of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/norm/bn_stats_finalize.h"

#include <string.h>

#include "kernels/cuda/launch/bn_stats_finalize_launch.h"
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/tile/shape.h"

void bn_stats_finalize_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b) {
    args->batches = b->plane[BN_STATS_FINALIZE_BATCHES][0];
    args->batch = p->batch;
    args->sample_pixels = p->size[0] * p->size[1];
    args->planes = p->streams;
    args->train = 1;
    args->cumulative = p->average == BRAID_AVERAGE_CUMULATIVE;
    args->each = p->each;
    args->eps = (float)p->eps;
    args->momentum = (float)p->momentum;
    for (int i = 0; i < p->streams; i++) {
        args->plane[i] = (struct bn_finalize_plane){
            .gamma = b->plane[BN_STATS_FINALIZE_GAMMA][i],
            .beta = b->plane[BN_STATS_FINALIZE_BETA][i],
            .mask = b->plane[BN_STATS_FINALIZE_MASK][i],
            .running_mean = b->plane[BN_STATS_FINALIZE_RUNNING_MEAN][i],
            .running_var = b->plane[BN_STATS_FINALIZE_RUNNING_VAR][i],
            .scale = b->plane[BN_STATS_FINALIZE_SCALE][i],
            .shift = b->plane[BN_STATS_FINALIZE_SHIFT][i],
            .center = b->plane[BN_STATS_FINALIZE_CENTER][i],
            .rstd = b->plane[BN_STATS_FINALIZE_RSTD][i],
            .channels = p->in_channels[i],
        };
    }
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = pixels_refuse_columns(p, d);
    int64_t channels = 0;
    for (int i = 0; i < p->streams; i++) channels += p->in_channels[i];
    if (!reason && channels < 1) reason = "there are no channels";
    if (!reason && channels >= CUDA_MOST_COUNTERS) reason = "there are not enough counters for so many channels";
    return reason;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_columns(p, sizeof(struct bn_moments), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_stats_finalize_f32", "bn_stats_finalize_f16", "bn_stats_finalize_bf16"};
    struct bn_stats_finalize_args args;
    int64_t blocks;
    (void)state;
    memset(&args, 0, sizeof args);
    pixel_args_begin(&args.sums, p);
    for (int i = 0; i < p->streams; i++) {
        args.sums.plane[i].x = b->plane[BN_STATS_FINALIZE_X][i];
        args.sums.plane[i].mask = b->plane[BN_STATS_FINALIZE_MASK][i];
    }
    bn_stats_finalize_norm(&args.norm, p, b);
    TRY(pixels_divide_columns(&args.sums, p, b, d, 1, &blocks));
    return cuda_launch(d, &(cuda_call){.stem = "bn_stats_finalize",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = blocks,
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_stats_finalize__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
