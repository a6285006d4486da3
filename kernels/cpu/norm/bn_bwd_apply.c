/*
 * bn_bwd_apply: one pass over the pixels with coefficients of the channel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pointwise a = {
        state, b, CHANNEL_BN_GRADIENT, BN_BWD_APPLY_X, BN_BWD_APPLY_DY, BN_BWD_APPLY_DX, BN_BWD_APPLY_MASK, {{NULL}},
        0,     0};
    const bn_bwd_slots slots = {BN_BWD_APPLY_GAMMA, BN_BWD_APPLY_RSTD,   BN_BWD_APPLY_DGAMMA,
                                BN_BWD_APPLY_DBETA, BN_BWD_APPLY_CENTER, BN_BWD_APPLY_MASK};
    bn_bwd_coefficients(&a, p, &slots);
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_bwd_apply, cpu_direct, channels, supports_all, chunks_cost, chunks_create, launch,
             chunks_destroy)
