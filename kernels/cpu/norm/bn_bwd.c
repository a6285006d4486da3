/*
 * Sums and coefficients of bn_bwd.h, everything that depends on the channel alone in double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_bwd.h"

static void finish_part(void *context, int64_t index) {
    const chunk_sums *s = context;
    const chunks *k = s->k;
    double first[CHUNK_CHANNELS] = {0}, second[CHUNK_CHANNELS] = {0};
    int64_t begin, end;
    int i;
    chunks_find_channels(k, index, &i, &begin, &end);
    for (int64_t chunk = 0; chunk < k->count[i]; chunk++) {
        chunk_result from = chunks_result(s, i, chunk);
        for (int64_t c = begin; c < end; c++) {
            first[c - begin] += from.first[c];
            second[c - begin] += from.second[c];
        }
    }
    const float *rstd = s->b->plane[s->slots[0]][i];
    float *dgamma = s->b->plane[s->slots[1]][i], *dbeta = s->b->plane[s->slots[2]][i];
    for (int64_t c = begin; c < end; c++) {
        dbeta[c] = (float)first[c - begin];
        dgamma[c] = (float)(second[c - begin] * (double)rstd[c]);
    }
}

void bn_bwd_sum(chunk_sums *s, int rstd, int dgamma, int dbeta) {
    s->slots[0] = rstd;
    s->slots[1] = dgamma;
    s->slots[2] = dbeta;
    chunks_sum(s, finish_part);
}

/* Slope, bend and offset of every channel of stream i; `values` is how many the statistics were made of. */
static void make_coefficients(const pointwise *a, int i, const bn_bwd_slots *slots, double values) {
    int64_t channels = a->k->channels[i];
    float *slope = (float *)a->b->workspace + a->k->first_value[i], *bend = slope + channels, *offset = bend + channels;
    const float *gamma = a->b->plane[slots->gamma][i], *rstd = a->b->plane[slots->rstd][i];
    const float *dgamma = a->b->plane[slots->dgamma][i], *dbeta = a->b->plane[slots->dbeta][i];
    for (int64_t c = 0; c < channels; c++) {
        double both = (double)gamma[c] * (double)rstd[c];
        slope[c] = (float)both;
        bend[c] = (float)(-both * (double)rstd[c] * (double)dgamma[c] / values);
        offset[c] = (float)(-both * (double)dbeta[c] / values);
    }
}

void bn_bwd_coefficients(pointwise *a, const braid_problem *p, const bn_bwd_slots *slots) {
    for (int i = 0; i < p->streams; i++) {
        int64_t values = mask_active(a->b->plane[slots->mask][i], p->batch) * a->k->sample_pixels;
        const float *slope = (float *)a->b->workspace + a->k->first_value[i];
        make_coefficients(a, i, slots, values > 0 ? (double)values : 1);
        a->coefficient[i][0] = slope;
        a->coefficient[i][1] = p->phase == BRAID_PHASE_TRAIN ? slope + a->k->channels[i] : NULL;
        a->coefficient[i][2] = slope + 2 * a->k->channels[i];
        a->coefficient[i][3] = a->b->plane[slots->center][i];
    }
}
