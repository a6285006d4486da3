/*
 * bn_dapply in f32. Everything that depends on the channel alone is made first, in double:
 * dx = slope * dy + bend * (x - center) + offset, and in evaluation dx = slope * dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/tile/isa.h"

typedef struct dapply {
    const chunks *k;
    const buffers *b;
    int train;
} dapply;

/* Slope, bend and offset of every channel of a stream. */
static float *coefficients(const dapply *a, int stream) { return (float *)a->b->workspace + a->k->first_value[stream]; }

static void make_coefficients(const dapply *a, int i, double values) {
    int64_t channels = a->k->channels[i];
    float *slope = coefficients(a, i), *bend = slope + channels, *offset = bend + channels;
    const float *gamma = a->b->plane[BN_DAPPLY_GAMMA][i], *rstd = a->b->plane[BN_DAPPLY_RSTD][i];
    const float *dgamma = a->b->plane[BN_DAPPLY_DGAMMA][i], *dbeta = a->b->plane[BN_DAPPLY_DBETA][i];
    for (int64_t c = 0; c < channels; c++) {
        double both = (double)gamma[c] * (double)rstd[c];
        slope[c] = (float)both;
        bend[c] = a->train ? (float)(-both * (double)rstd[c] * (double)dgamma[c] / values) : 0;
        offset[c] = a->train ? (float)(-both * (double)dbeta[c] / values) : 0;
    }
}

static void dapply_part(void *context, int64_t index) {
    const dapply *a = context;
    chunk_span span = {0};
    int i;
    int64_t chunk;
    chunks_find(a->k, index, &i, &chunk);
    const float *slope = coefficients(a, i), *bend = slope + a->k->channels[i], *offset = bend + a->k->channels[i];
    const float *x = a->b->plane[BN_DAPPLY_X][i], *dy = a->b->plane[BN_DAPPLY_DY][i];
    const lanes_gradient g = {slope, bend, offset, a->b->plane[BN_DAPPLY_CENTER][i]};
    float *dx = a->b->plane[BN_DAPPLY_DX][i];
    while (chunks_next_span(a->k, a->b->plane[BN_DAPPLY_MASK][i], chunk, &span)) {
        chunks_clear(a->k, i, &span, dx);
        if (span.blank) continue;
        lanes_pixels pixels = chunks_pixels(a->k, i, &span, a->train ? x : dy, dy);
        float *out = dx + span.begin * a->k->pitch[i];
        if (a->train)
            a->k->lanes->gradient(out, &g, &pixels);
        else
            a->k->lanes->scale_shift(out, slope, offset, &pixels);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    dapply a = {state, b, p->phase == BRAID_PHASE_TRAIN};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        int64_t values = mask_active(b->plane[BN_DAPPLY_MASK][i], p->batch) * a.k->sample_pixels;
        make_coefficients(&a, i, values > 0 ? (double)values : 1);
    }
    threads_for(a.k->streams * a.k->count, dapply_part, &a);
    return BRAID_OK;
}

TILE_KERNEL(bn_dapply_f32__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
TILE_KERNEL(bn_dapply_f32__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create, launch, chunks_destroy)
TILE_KERNEL(bn_dapply_f32__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create, launch,
            chunks_destroy)
