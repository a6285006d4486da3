/*
 * bn_bwd_reduce: both sums of every channel over chunks of pixels, then over the chunks in their order, in
 * double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_BWD_REDUCE_X][i];
        sums.dy[i] = b->plane[BN_BWD_REDUCE_DY][i];
        sums.center[i] = b->plane[BN_BWD_REDUCE_CENTER][i];
        sums.mask[i] = b->plane[BN_BWD_REDUCE_MASK][i];
    }
    bn_bwd_sum(&sums, BN_BWD_REDUCE_RSTD, BN_BWD_REDUCE_DGAMMA, BN_BWD_REDUCE_DBETA);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_bwd_reduce, cpu_direct, channels, supports_all, chunks_cost, chunks_create_sums, launch,
             chunks_destroy)
