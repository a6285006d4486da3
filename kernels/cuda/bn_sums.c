/*
 * bn_sums on CUDA: one launch for the parts of all streams, one to add them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/bn_launch.h"
#include "kernels/cuda/bn_sums.h"
#include "kernels/cuda/tile/shape.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return bn_workspace(p, sizeof(struct bn_gradients), workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_sums_f32", "bn_sums_f16", "bn_sums_bf16"};
    struct bn_sums_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    if (!bn_fill_columns(&args.columns, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_sums: %s", launch_too_large);
    args.workspace = b->workspace;
    for (int i = 0; i < p->streams; i++) {
        args.plane[i] = (struct bn_sums_plane){
            .x = b->plane[BN_SUMS_X][i],
            .dy = b->plane[BN_SUMS_DY][i],
            .center = b->plane[BN_SUMS_CENTER][i],
            .rstd = b->plane[BN_SUMS_RSTD][i],
            .mask = b->plane[BN_SUMS_MASK][i],
            .dgamma = b->plane[BN_SUMS_DGAMMA][i],
            .dbeta = b->plane[BN_SUMS_DBETA][i],
            .pitch = p->in_pitch[i],
            .channels = p->in_channels[i],
        };
    }
    cuda_call call = {.stem = "bn_sums", .threads = BLOCK_THREADS, .args = &args, .args_bytes = sizeof args};
    call.function = launch_name(&names, p->dtype);
    call.blocks = args.columns.first_block[BRAID_MAX_PLANES];
    TRY(cuda_launch(d, &call));
    call.function = "bn_sums_parts";
    call.blocks = args.columns.first_tile[BRAID_MAX_PLANES];
    return cuda_launch(d, &call);
}

const kernel_functions bn_sums__cuda_direct = {
    .supports = bn_refuses_columns, .cost = launch_cost, .create = create, .launch = launch, .destroy = bn_destroy};
