/*
 * bn_act_pool weight gradients: the gradient of the normalised values in the workspace, then both of its sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_act_pool_gradient.h"
#include "kernels/cpu/norm/bn_bwd.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pool.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const bn_act_pool_state *s = state;
    buffers with;
    (void)d;
    bn_act_pool_ready(p, s, b, &with);
    chunk_sums sums = {.k = s->chunks, .b = &with};
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_FUSED_X][i];
        sums.dy[i] = with.plane[BN_ACT_POOL_G][i];
        sums.center[i] = b->plane[BN_FUSED_CENTER][i];
        sums.mask[i] = b->plane[BN_FUSED_MASK][i];
    }
    bn_bwd_sum(&sums, BN_FUSED_RSTD, BN_FUSED_DGAMMA, BN_FUSED_DBETA);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_act_pool_bwd_weight, cpu_direct, channels, pool_supports_max, pool_cost,
             bn_act_pool_create_sums, launch, bn_act_pool_destroy)
