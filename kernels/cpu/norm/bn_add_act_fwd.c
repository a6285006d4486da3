/*
 * bn_add_act: normalise, add the residual and activate in one pass over the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const channel_kind kind = p->residual_norm ? CHANNEL_BN_ADD_NORM_RELU : CHANNEL_BN_ADD_RELU;
    pointwise a = {state, b, kind, BN_FUSED_X, BN_FUSED_Z, BN_FUSED_Y, BN_FUSED_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][0] = b->plane[BN_FUSED_SCALE][i];
        a.coefficient[i][1] = b->plane[BN_FUSED_SHIFT][i];
        a.coefficient[i][2] = b->plane[BN_FUSED_ZSCALE][i];
        a.coefficient[i][3] = b->plane[BN_FUSED_ZSHIFT][i];
    }
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_add_act_fwd, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
