/*
 * bn_sums: both sums of every channel over chunks of pixels, in double, then over the chunks in
 * their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/tile/isa.h"

static void finish_part(void *context, int64_t index) {
    const chunk_sums *s = context;
    const chunks *k = s->k;
    double first[CHUNK_CHANNELS] = {0}, second[CHUNK_CHANNELS] = {0};
    int64_t begin, end;
    int i;
    chunks_find_channels(k, index, &i, &begin, &end);
    for (int64_t chunk = 0; chunk < k->count; chunk++) {
        chunk_result from = chunks_result(s, i, chunk);
        for (int64_t c = begin; c < end; c++) {
            first[c - begin] += from.first[c];
            second[c - begin] += from.second[c];
        }
    }
    const float *rstd = s->b->plane[BN_SUMS_RSTD][i];
    for (int64_t c = begin; c < end; c++) {
        ((float *)s->b->plane[BN_SUMS_DBETA][i])[c] = (float)first[c - begin];
        ((float *)s->b->plane[BN_SUMS_DGAMMA][i])[c] = (float)(second[c - begin] * (double)rstd[c]);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_SUMS_X][i];
        sums.dy[i] = b->plane[BN_SUMS_DY][i];
        sums.center[i] = b->plane[BN_SUMS_CENTER][i];
        sums.mask[i] = b->plane[BN_SUMS_MASK][i];
    }
    chunks_sum(&sums, finish_part);
    return BRAID_OK;
}

TILE_KERNEL(bn_sums_bf16__cpu_lanes_avx512_bf16, lanes_avx512_bf16, supports_all, chunks_cost, chunks_create_sums,
            launch, chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_sums, launch,
            chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_sums, launch, chunks_destroy)
TILE_KERNEL(bn_sums__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_sums, launch,
            chunks_destroy)
