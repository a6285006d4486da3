/*
 * bn_finalize on CUDA: one launch for all streams, a thread for each channel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/launch/launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return launch_refuses_channels(p);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct bn_finalize_means all;
    struct bn_finalize_args *const args = &all.norm;
    int64_t channels = 0;
    (void)state;
    memset(&all, 0, sizeof all);
    args->batches = b->plane[BN_FINALIZE_BATCHES][0];
    args->batch = p->batch;
    args->sample_pixels = p->size[0] * p->size[1];
    args->planes = p->streams;
    args->train = p->phase == BRAID_PHASE_TRAIN;
    args->cumulative = p->average == BRAID_AVERAGE_CUMULATIVE;
    args->each = p->each;
    args->eps = (float)p->eps;
    args->momentum = (float)p->momentum;
    for (int i = 0; i < p->streams; i++) {
        all.mean[i] = b->plane[BN_FINALIZE_MEAN][i];
        all.var[i] = b->plane[BN_FINALIZE_VAR][i];
        args->plane[i] = (struct bn_finalize_plane){
            .gamma = b->plane[BN_FINALIZE_GAMMA][i],
            .beta = b->plane[BN_FINALIZE_BETA][i],
            .mask = b->plane[BN_FINALIZE_MASK][i],
            .running_mean = b->plane[BN_FINALIZE_RUNNING_MEAN][i],
            .running_var = b->plane[BN_FINALIZE_RUNNING_VAR][i],
            .scale = b->plane[BN_FINALIZE_SCALE][i],
            .shift = b->plane[BN_FINALIZE_SHIFT][i],
            .center = b->plane[BN_FINALIZE_CENTER][i],
            .rstd = b->plane[BN_FINALIZE_RSTD][i],
            .channels = p->in_channels[i],
        };
        channels += p->in_channels[i];
    }
    int64_t blocks = args->cumulative && args->train ? 1 : launch_tiles(channels, BN_FINALIZE_THREADS);
    return cuda_launch(d, &(cuda_call){.stem = "bn_finalize",
                                       .function = "bn_finalize",
                                       .blocks = blocks < 1 ? 1 : blocks,
                                       .threads = BN_FINALIZE_THREADS,
                                       .args = &all,
                                       .args_bytes = sizeof all});
}

const kernel_functions bn_finalize__cuda_direct = {.supports = supports, .cost = launch_cost, .launch = launch};
