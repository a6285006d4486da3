/*
 * bn_stats: two sums of every channel over chunks of pixels, about the median of three pixels of the chunk (so that a
 * mean far from zero cancels before it is squared), then mean and variance of all chunks combined in their order, in
 * double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/isa/tile_kernels.h"

/* Adds `active` pixels with the given sums about center to count, mean and the sum of squares about it. */
static void combine(double count, double *mean, double *squares, double active, const double sums[2], double center) {
    double chunk_mean = center + sums[0] / active, away = chunk_mean - *mean, total = count + active;
    *squares += sums[1] - sums[0] * sums[0] / active + away * away * (count * active / total);
    *mean += away * (active / total);
}

static void finish_part(void *context, int64_t index) {
    const chunk_sums *s = context;
    const chunks *k = s->k;
    double mean[CHUNK_CHANNELS] = {0}, squares[CHUNK_CHANNELS] = {0}, count = 0;
    int64_t begin, end;
    int i;
    chunks_find_channels(k, index, &i, &begin, &end);
    for (int64_t chunk = 0; chunk < k->count[i]; chunk++) {
        int64_t active = chunks_active(k, i, s->mask[i], chunk);
        if (active == 0) continue;
        chunk_result from = chunks_result(s, i, chunk);
        for (int64_t c = begin; c < end; c++) {
            const double both[2] = {from.first[c], from.second[c]};
            combine(count, &mean[c - begin], &squares[c - begin], (double)active, both, (double)from.center[c]);
        }
        count += (double)active;
    }
    for (int64_t c = begin; c < end; c++) {
        double var = count > 0 ? squares[c - begin] / count : 0;
        ((float *)s->b->plane[BN_STATS_MEAN][i])[c] = (float)mean[c - begin];
        ((float *)s->b->plane[BN_STATS_VAR][i])[c] = var < 0 ? 0 : (float)var;
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    chunk_sums sums = {.k = state, .b = b};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        sums.x[i] = b->plane[BN_STATS_X][i];
        sums.mask[i] = b->plane[BN_STATS_MASK][i];
    }
    chunks_sum(&sums, finish_part);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_stats, cpu_direct, channels, supports_all, chunks_cost, chunks_create_sums, launch,
             chunks_destroy)
