/*
 * bn_act: normalise and activate in one pass over the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const channel_kind kind = CHANNEL_BN_RELU + (channel_kind)p->activation;
    pointwise a = {state, b, kind, BN_FUSED_X, POINTWISE_NONE, BN_FUSED_Y, BN_FUSED_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][0] = b->plane[BN_FUSED_SCALE][i];
        a.coefficient[i][1] = b->plane[BN_FUSED_SHIFT][i];
    }
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_act_fwd, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
