/*
 * add: one addition per value, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)p;
    pointwise_run(&(pointwise){state, b, CHANNEL_ADD, ADD_X, ADD_Z, ADD_Y, POINTWISE_NONE, {{NULL}}, 0, 0}, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, add, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
