/*
 * bn_apply on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/bn_launch.h"
#include "kernels/cuda/bn_apply.h"
#include "kernels/cuda/tile/shape.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"bn_apply_f32", "bn_apply_f16", "bn_apply_bf16"};
    struct bn_apply_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    if (!bn_fill_pixels(&args.pixels, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_apply: %s", launch_too_large);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i] = (struct bn_apply_plane){
            .x = b->plane[BN_APPLY_X][i],
            .scale = b->plane[BN_APPLY_SCALE][i],
            .shift = b->plane[BN_APPLY_SHIFT][i],
            .mask = b->plane[BN_APPLY_MASK][i],
            .y = b->plane[BN_APPLY_Y][i],
            .pitch = p->in_pitch[i],
            .channels = p->in_channels[i],
        };
    }
    return cuda_launch(d, &(cuda_call){.stem = "bn_apply",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = args.pixels.first_block[BRAID_MAX_PLANES],
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_apply__cuda_direct = {.supports = bn_refuses_pixels, .cost = launch_cost, .launch = launch};
