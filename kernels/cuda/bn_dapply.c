/*
 * bn_dapply on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/bn_launch.h"
#include "kernels/cuda/bn_dapply.h"
#include "kernels/cuda/tile/shape.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_dapply_f32", "bn_dapply_f16", "bn_dapply_bf16"};
    struct bn_dapply_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    if (!bn_fill_pixels(&args.pixels, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_dapply: %s", launch_too_large);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i] = (struct bn_dapply_plane){
            .x = b->plane[BN_DAPPLY_X][i],
            .dy = b->plane[BN_DAPPLY_DY][i],
            .center = b->plane[BN_DAPPLY_CENTER][i],
            .rstd = b->plane[BN_DAPPLY_RSTD][i],
            .gamma = b->plane[BN_DAPPLY_GAMMA][i],
            .dgamma = b->plane[BN_DAPPLY_DGAMMA][i],
            .dbeta = b->plane[BN_DAPPLY_DBETA][i],
            .mask = b->plane[BN_DAPPLY_MASK][i],
            .dx = b->plane[BN_DAPPLY_DX][i],
            .pitch = p->in_pitch[i],
            .channels = p->in_channels[i],
        };
    }
    return cuda_launch(d, &(cuda_call){.stem = "bn_dapply",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = args.pixels.first_block[BRAID_MAX_PLANES],
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_dapply__cuda_direct = {.supports = bn_refuses_pixels, .cost = launch_cost, .launch = launch};
