/*
 * bn_act data gradient: the activation's slope, made again from x, and the gradient of the normalisation in one pass.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/bn_parts.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const lanes_kind kind = LANES_BN_RELU_GRADIENT + (lanes_kind)p->activation;
    const bn_parts_slots slots = {BN_FUSED_GAMMA, BN_FUSED_RSTD,   BN_FUSED_DGAMMA,
                                  BN_FUSED_DBETA, BN_FUSED_CENTER, BN_FUSED_MASK};
    points a = {state, b, kind, BN_FUSED_X, BN_FUSED_DY, BN_FUSED_DX, BN_FUSED_MASK, {{NULL}}, 0, 0};
    bn_parts_coefficients(&a, p, &slots);
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][4] = b->plane[BN_FUSED_SCALE][i];
        a.coefficient[i][5] = b->plane[BN_FUSED_SHIFT][i];
    }
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_act_bwd_data_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create,
            launch, chunks_destroy)
TILE_KERNEL(bn_act_bwd_data__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_act_bwd_data__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_act_bwd_data__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
