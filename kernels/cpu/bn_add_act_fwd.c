/*
 * bn_add_act: normalise, add the residual and activate in one pass over the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const lanes_kind kind = p->residual_norm ? LANES_BN_ADD_NORM_RELU : LANES_BN_ADD_RELU;
    points a = {state, b, kind, BN_FUSED_X, BN_FUSED_Z, BN_FUSED_Y, BN_FUSED_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][0] = b->plane[BN_FUSED_SCALE][i];
        a.coefficient[i][1] = b->plane[BN_FUSED_SHIFT][i];
        a.coefficient[i][2] = b->plane[BN_FUSED_ZSCALE][i];
        a.coefficient[i][3] = b->plane[BN_FUSED_ZSHIFT][i];
    }
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_add_act_fwd_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost,
            chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(bn_add_act_fwd__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
TILE_KERNEL(bn_add_act_fwd__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
TILE_KERNEL(bn_add_act_fwd__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
