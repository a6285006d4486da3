/*
 * bn_apply in f32: one multiply-add per value, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/tile/isa.h"

typedef struct apply {
    const chunks *k;
    const buffers *b;
} apply;

static void apply_part(void *context, int64_t index) {
    const apply *a = context;
    chunk_span span = {0};
    int i;
    int64_t chunk;
    chunks_find(a->k, index, &i, &chunk);
    float *y = a->b->plane[BN_APPLY_Y][i];
    while (chunks_next_span(a->k, a->b->plane[BN_APPLY_MASK][i], chunk, &span)) {
        chunks_clear(a->k, i, &span, y);
        if (span.blank) continue;
        lanes_pixels pixels = chunks_pixels(a->k, i, &span, a->b->plane[BN_APPLY_X][i], NULL);
        a->k->lanes->scale_shift(y + span.begin * a->k->pitch[i], a->b->plane[BN_APPLY_SCALE][i],
                                 a->b->plane[BN_APPLY_SHIFT][i], &pixels);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    apply a = {state, b};
    (void)p;
    (void)d;
    threads_for(a.k->streams * a.k->count, apply_part, &a);
    return BRAID_OK;
}

TILE_KERNEL(bn_apply_f32__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_apply_f32__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_apply_f32__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
