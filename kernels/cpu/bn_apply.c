/*
 * bn_apply: one multiply-add per value, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    points a = {state, b, LANES_SCALE_SHIFT, BN_APPLY_X, POINTS_NONE, BN_APPLY_Y, BN_APPLY_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        a.coefficient[i][0] = b->plane[BN_APPLY_SCALE][i];
        a.coefficient[i][1] = b->plane[BN_APPLY_SHIFT][i];
    }
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bn_apply_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create_bare,
            launch, chunks_destroy)
TILE_KERNEL(bn_apply__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
TILE_KERNEL(bn_apply__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(bn_apply__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
