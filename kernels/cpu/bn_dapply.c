/*
 * bn_dapply: one pass over the pixels with coefficients of the channel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/bn_parts.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    points a = {state, b, LANES_BN_GRADIENT, BN_DAPPLY_X, BN_DAPPLY_DY, BN_DAPPLY_DX, BN_DAPPLY_MASK, {{NULL}}, 0, 0};
    const bn_parts_slots slots = {BN_DAPPLY_GAMMA, BN_DAPPLY_RSTD,   BN_DAPPLY_DGAMMA,
                                  BN_DAPPLY_DBETA, BN_DAPPLY_CENTER, BN_DAPPLY_MASK};
    bn_parts_coefficients(&a, p, &slots);
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_dapply_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_dapply__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
