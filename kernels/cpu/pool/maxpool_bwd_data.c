/*
 * maxpool gradient: tiles of dx, each from all windows that reach into it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pool_gradient.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_gradient g = {.x = MAXPOOL_X, .dy = MAXPOOL_Y, .dx = MAXPOOL_DX};
    (void)d;
    pool_gradient_run(&g, p, state, b);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, maxpool_bwd_data, cpu_direct, channels, pool_supports_max, pool_cost, pool_create, launch,
             pool_destroy)
