/*
 * bias: one addition per value, chunk by chunk of pixels: x a + b with a = 1, and b the bias as floats.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const chunks *k = state;
    points a = {state, b, LANES_SCALE_SHIFT, BIAS_X, POINTS_NONE, BIAS_Y, BIAS_MASK, {{NULL}}, 0, 0};
    for (int i = 0; i < p->streams; i++) {
        float *ones = (float *)b->workspace + k->first_value[i], *bias = ones + p->in_channels[i];
        for (int64_t c = 0; c < p->in_channels[i]; c++) ones[c] = 1;
        k->lanes->cast(&(lanes_cast){.dtype = p->dtype,
                                     .to_dtype = BRAID_DTYPE_F32,
                                     .count = p->in_channels[i],
                                     .from = b->plane[BIAS_BIAS][i],
                                     .to = bias});
        a.coefficient[i][0] = ones;
        a.coefficient[i][1] = bias;
    }
    points_run(&a, d);
    return BRAID_OK;
}

TILE_KERNEL(bias_fwd_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bias_fwd__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bias_fwd__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bias_fwd__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
