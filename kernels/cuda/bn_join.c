/*
 * The launcher of bn_join: the second stage of kernels that take the statistics of bn_prepare on their way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_join.h"

#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/bn_join_launch.h"

void bn_prepare_norm(struct bn_finalize_args *args, const braid_problem *p, const buffers *b) {
    args->batches = b->plane[BN_PREPARE_BATCHES][0];
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
            .gamma = b->plane[BN_PREPARE_GAMMA][i],
            .beta = b->plane[BN_PREPARE_BETA][i],
            .mask = b->plane[BN_PREPARE_MASK][i],
            .running_mean = b->plane[BN_PREPARE_RUNNING_MEAN][i],
            .running_var = b->plane[BN_PREPARE_RUNNING_VAR][i],
            .scale = b->plane[BN_PREPARE_SCALE][i],
            .shift = b->plane[BN_PREPARE_SHIFT][i],
            .center = b->plane[BN_PREPARE_CENTER][i],
            .rstd = b->plane[BN_PREPARE_RSTD][i],
            .channels = p->in_channels[i],
        };
    }
}

braid_problem bn_join_step(const braid_problem *p, int index) {
    op_chain chain = {0};
    op_of(p)->chain(p, &chain);
    return chain.steps[index].problem;
}

int64_t bn_join_first(const braid_problem *p, int i) {
    int64_t channels = 0;
    for (int k = 0; k < i; k++) channels += p->in_channels[k];
    return channels;
}

buffers bn_join_operands(const buffers *b, int gamma, int mask, int masked) {
    buffers of = {0};
    for (int slot = BN_PREPARE_GAMMA; slot <= BN_PREPARE_SHIFT; slot++)
        memcpy(of.plane[slot], b->plane[slot - BN_PREPARE_GAMMA + gamma], sizeof of.plane[slot]);
    for (int i = 0; i < masked; i++) of.plane[BN_PREPARE_MASK][i] = b->plane[mask][i];
    return of;
}

braid_status bn_join_bytes(const braid_problem *p, int64_t parts, size_t *bytes) {
    size_t moments;
    TRY(size_array((size_t)bn_join_first(p, p->streams), (size_t)parts, "partial statistics", &moments));
    return size_array(moments, sizeof(struct bn_moments), "partial statistics", bytes);
}

braid_status bn_join_launch(const braid_problem *p, device *d, const buffers *b, const struct bn_moments *moments,
                            const int32_t parts[BRAID_MAX_PLANES]) {
    struct bn_join_args args;
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    memset(&args, 0, sizeof args);
    bn_prepare_norm(&args.norm, p, b);
    args.moments = moments;
    args.pitch = (int32_t)bn_join_first(p, p->streams);
    for (int i = 0; i < p->streams; i++) {
        args.first_channel[i] = (int32_t)bn_join_first(p, i);
        args.parts[i] = parts[i];
        blocks[i] = launch_tiles(p->in_channels[i], BN_JOIN_LANES);
    }
    args.counter = cuda_counters(d, 1);
    if (!args.counter || !launch_schedule(args.first_block, blocks, p->streams))
        return fail(BRAID_ERROR_ARGUMENT, "bn_join: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "bn_join",
                                       .function = "bn_join",
                                       .blocks = args.first_block[BRAID_MAX_PLANES],
                                       .threads = BN_JOIN_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}
