/*
 * bn_act_pool data gradient: that of the normalised values in the workspace, then the gradient of the normalisation in
 * one pass over the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_act_pool_gradient.h"
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_act_pool_state *s = state;
    const bn_bwd_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    buffers with;
    bn_act_pool_ready(p, s, b, &with);
    pointwise a = {
        s->chunks, &with, CHANNEL_BN_GRADIENT, BN_FUSED_X, BN_ACT_POOL_G, BN_FUSED_DX, BN_FUSED_MASK, {{NULL}}, 0, 0};
    bn_bwd_coefficients(&a, p, &slots);
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_act_pool_bwd_data, cpu_direct, channels, pool_supports_max, pool_cost, bn_act_pool_create,
             launch, bn_act_pool_destroy)
