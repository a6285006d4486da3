/*
 * The gradient of bias: the sum of every channel over chunks of pixels, then over the chunks in their order, in double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

static void finish_part(void *context, int64_t index) {
    const chunk_sums *s = context;
    const chunks *k = s->k;
    double sums[CHUNK_CHANNELS] = {0};
    float rounded[CHUNK_CHANNELS];
    int64_t begin, end;
    int i;
    chunks_find_channels(k, index, &i, &begin, &end);
    for (int64_t chunk = 0; chunk < k->count[i]; chunk++) {
        const chunk_result from = chunks_result(s, i, chunk);
        for (int64_t c = begin; c < end; c++) sums[c - begin] += from.first[c];
    }
    for (int64_t c = begin; c < end; c++) rounded[c - begin] = (float)sums[c - begin];
    k->loops->store(plane_to(s->b->plane[BIAS_BIAS][i], begin, k->bytes), k->dtype, rounded, end - begin);
}

/* The sums of bn_bwd_reduce, of which the second, of dy times something, is not looked at. */
static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = sums.dy[i] = b->plane[BIAS_Y][i];
        sums.mask[i] = b->plane[BIAS_MASK][i];
    }
    chunks_sum(&sums, finish_part);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bias_bwd_weight, cpu_direct, channels, supports_all, chunks_cost, chunks_create_sums, launch,
             chunks_destroy)
