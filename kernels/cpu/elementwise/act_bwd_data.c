/*
 * act gradient: dx = dy f'(x), with f' made again from x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const channel_kind kind = CHANNEL_RELU_GRADIENT + (channel_kind)p->activation;
    pointwise_run(&(pointwise){state, b, kind, ACT_X, ACT_Y, ACT_DX, POINTWISE_NONE, {{NULL}}, 0, 0}, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, act_bwd_data, cpu_direct, channels, supports_all, chunks_cost, chunks_create_bare, launch,
             chunks_destroy)
