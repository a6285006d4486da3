/*
 * bn_add_act data gradients: dz and dx in one pass, the ReLU read off y.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/bn_parts.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_parts_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                  BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    points a = {.k = state,
                .b = b,
                .kind = LANES_BN_ADD_GRADIENT,
                .x = BN_FUSED_X,
                .z = BN_FUSED_DY,
                .y = BN_FUSED_Y,
                .out = BN_FUSED_DX,
                .also = BN_FUSED_DZ,
                .mask = BN_FUSED_MASK};
    bn_parts_coefficients(&a, p, &slots);
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_add_act_bwd_data_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost,
            chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_add_act_bwd_data__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_add_act_bwd_data__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_add_act_bwd_data__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
