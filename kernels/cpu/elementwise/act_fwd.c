/*
 * act: every value through the activation, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const channel_kind kind = CHANNEL_RELU + (channel_kind)p->activation;
    pointwise_run(&(pointwise){state, b, kind, ACT_X, POINTWISE_NONE, ACT_Y, POINTWISE_NONE, {{NULL}}, 0, 0}, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, act_fwd, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
