/*
 * maxpool gradient: tiles of dx, each from all windows that reach into it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/pool_gradient.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_gradient g = {.x = MAXPOOL_X, .dy = MAXPOOL_Y, .dx = MAXPOOL_DX};
    (void)d;
    pool_gradient_run(&g, p, state, b);
    return BRAID_OK;
}

TILE_KERNEL(maxpool_bwd_data_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, pool_supports_max, pool_cost, pool_create,
            launch, pool_destroy)
TILE_KERNEL(maxpool_bwd_data__cpu_lanes_avx512, lanes_avx512, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_bwd_data__cpu_lanes_avx2, lanes_avx2, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_bwd_data__cpu_lanes_portable, lanes_portable, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
