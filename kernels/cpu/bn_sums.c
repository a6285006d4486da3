/*
 * bn_sums: both sums of every channel over chunks of pixels, then over the chunks in their order, in
 * double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/bn_parts.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_SUMS_X][i];
        sums.dy[i] = b->plane[BN_SUMS_DY][i];
        sums.center[i] = b->plane[BN_SUMS_CENTER][i];
        sums.mask[i] = b->plane[BN_SUMS_MASK][i];
    }
    bn_parts_sum(&sums, BN_SUMS_RSTD, BN_SUMS_DGAMMA, BN_SUMS_DBETA);
    return BRAID_OK;
}

TILE_KERNEL(bn_sums_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create_sums,
            launch, chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_sums, launch,
            chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_sums, launch, chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_sums, launch,
            chunks_destroy)
