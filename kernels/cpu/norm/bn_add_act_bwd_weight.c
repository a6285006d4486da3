/*
 * bn_add_act weight gradients: both sums over the pixels, the ReLU read off y.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b, .gate = CHANNEL_BN_ADD_GRADIENT};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_FUSED_X][i];
        sums.dy[i] = b->plane[BN_FUSED_DY][i];
        sums.center[i] = b->plane[BN_FUSED_CENTER][i];
        sums.mask[i] = b->plane[BN_FUSED_MASK][i];
        sums.y[i] = b->plane[BN_FUSED_Y][i];
    }
    bn_bwd_sum(&sums, BN_FUSED_RSTD, BN_FUSED_DGAMMA, BN_FUSED_DBETA);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_add_act_bwd_weight, cpu_direct, channels, supports_all, chunks_cost, chunks_create_sums,
             launch, chunks_destroy)
