/*
 * bn_apply: one multiply-add per value, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pointwise a = {state, b, CHANNEL_SCALE_SHIFT, BN_APPLY_X, POINTWISE_NONE, BN_APPLY_Y, BN_APPLY_MASK, {{NULL}},
                   0,     0};
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][0] = b->plane[BN_APPLY_SCALE][i];
        a.coefficient[i][1] = b->plane[BN_APPLY_SHIFT][i];
    }
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_apply, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
