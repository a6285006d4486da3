/*
 * bias: one addition per value, chunk by chunk of pixels: x a + b with a = 1, and b the bias as floats.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pointwise.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const chunks *k = state;
    pointwise a = {state, b, CHANNEL_SCALE_SHIFT, BIAS_X, POINTWISE_NONE, BIAS_Y, BIAS_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        float *ones = (float *)b->workspace + k->first_value[i], *bias = ones + p->in_channels[i];
        for (int64_t c = 0; c < p->in_channels[i]; c++) ones[c] = 1;
        k->loops->cast(&(channel_cast){.dtype = p->dtype,
                                       .to_dtype = BRAID_DTYPE_F32,
                                       .count = p->in_channels[i],
                                       .from = b->plane[BIAS_BIAS][i],
                                       .to = bias});
        a.coefficient[i][0] = ones;
        a.coefficient[i][1] = bias;
    }
    pointwise_run(&a, d);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bias_fwd, cpu_direct, channels, supports_all, chunks_cost, chunks_create, launch,
             chunks_destroy)
