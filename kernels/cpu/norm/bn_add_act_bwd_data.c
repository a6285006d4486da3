/*
 * bn_add_act data gradients: dz and dx in one pass, the ReLU read off y.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_bwd_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    pointwise a = {.k = state,
                   .b = b,
                   .kind = CHANNEL_BN_ADD_GRADIENT,
                   .x = BN_FUSED_X,
                   .z = BN_FUSED_DY,
                   .y = BN_FUSED_Y,
                   .out = BN_FUSED_DX,
                   .also = BN_FUSED_DZ,
                   .mask = BN_FUSED_MASK};
    bn_bwd_coefficients(&a, p, &slots);
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_add_act_bwd_data, cpu_direct, channels, supports_all, chunks_cost, chunks_create, launch,
             chunks_destroy)
