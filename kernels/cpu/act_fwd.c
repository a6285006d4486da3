/*
 * act: every value through the activation, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const lanes_kind kind = LANES_RELU + (lanes_kind)p->activation;
    points_run(&(points){state, b, kind, ACT_X, POINTS_NONE, ACT_Y, POINTS_NONE, {{NULL}}, 0, 0}, d);
    return BRAID_OK;
}

TILE_KERNEL(act_fwd_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create_bare,
            launch, chunks_destroy)
TILE_KERNEL(act_fwd__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
TILE_KERNEL(act_fwd__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(act_fwd__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
