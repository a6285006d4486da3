/*
 * bn_stats on CUDA: one launch for the parts of all streams, one to add them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/bn_launch.h"
#include "kernels/cuda/bn_stats.h"
#include "kernels/cuda/tile/shape.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return bn_workspace(p, sizeof(struct bn_moments), workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_stats_f32", "bn_stats_f16", "bn_stats_bf16"};
    struct bn_stats_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    if (!bn_fill_columns(&args.columns, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_stats: %s", launch_too_large);
    args.workspace = b->workspace;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i] = (struct bn_stats_plane){
            .x = b->plane[BN_STATS_X][i],
            .mask = b->plane[BN_STATS_MASK][i],
            .mean = b->plane[BN_STATS_MEAN][i],
            .var = b->plane[BN_STATS_VAR][i],
            .pitch = p->in_pitch[i],
            .channels = p->in_channels[i],
        };
    }
    cuda_call call = {.stem = "bn_stats", .threads = BLOCK_THREADS, .args = &args, .args_bytes = sizeof args};
    call.function = launch_name(&names, p->dtype);
    call.blocks = args.columns.first_block[BRAID_MAX_PLANES];
    TRY(cuda_launch(d, &call));
    call.function = "bn_stats_parts";
    call.blocks = args.columns.first_tile[BRAID_MAX_PLANES];
    return cuda_launch(d, &call);
}

const kernel_functions bn_stats__cuda_direct = {
    .supports = bn_refuses_columns, .cost = launch_cost, .create = create, .launch = launch, .destroy = bn_destroy};
