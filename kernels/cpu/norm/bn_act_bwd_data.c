/*
 * bn_act data gradient: the activation's slope, made again from x, and the gradient of the normalisation in one pass.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const channel_kind kind = CHANNEL_BN_RELU_GRADIENT + (channel_kind)p->activation;
    const bn_bwd_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    pointwise a = {state, b, kind, BN_FUSED_X, BN_FUSED_DY, BN_FUSED_DX, BN_FUSED_MASK, {{NULL}}, 0, 0};
    bn_bwd_coefficients(&a, p, &slots);
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][4] = b->plane[BN_FUSED_SCALE][i];
        a.coefficient[i][5] = b->plane[BN_FUSED_SHIFT][i];
    }
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_act_bwd_data, cpu_direct, channels, supports_all, chunks_cost, chunks_create, launch,
             chunks_destroy)
