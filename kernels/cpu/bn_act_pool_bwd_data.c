/*
 * bn_act_pool data gradient: that of the normalised values in the workspace, then the gradient of the normalisation in
 * one pass over the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/bn_act_pool_gradient.h"
#include "kernels/cpu/tile/bn_parts.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/pool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_act_pool_state *s = state;
    const bn_parts_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                  BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    buffers with;
    bn_act_pool_ready(p, s, b, &with);
    points a = {s->chunks,   &with,         LANES_BN_GRADIENT, BN_FUSED_X, BN_ACT_POOL_G,
                BN_FUSED_DX, BN_FUSED_MASK, {{NULL}},          0,          0};
    bn_parts_coefficients(&a, p, &slots);
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_act_pool_bwd_data_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, pool_supports_max, pool_cost,
            bn_act_pool_create, launch, bn_act_pool_destroy)
TILE_KERNEL(bn_act_pool_bwd_data__cpu_lanes_avx512, lanes_avx512, pool_supports_max, pool_cost, bn_act_pool_create,
            launch, bn_act_pool_destroy)
TILE_KERNEL(bn_act_pool_bwd_data__cpu_lanes_avx2, lanes_avx2, pool_supports_max, pool_cost, bn_act_pool_create, launch,
            bn_act_pool_destroy)
TILE_KERNEL(bn_act_pool_bwd_data__cpu_lanes_portable, lanes_portable, pool_supports_max, pool_cost, bn_act_pool_create,
            launch, bn_act_pool_destroy)
