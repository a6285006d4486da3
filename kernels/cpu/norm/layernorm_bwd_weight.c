/*
 * The gradients of gamma and beta of layernorm, for f32, bf16 and f16: both sums of every channel over parts of the
 * rows, in double (isa/rows.h), then over the parts in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/threads.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/row_parts.h"

#define FINISH_CHANNELS 64 /* of one stream, added up by a part */

typedef struct work {
    const braid_problem *p;
    const row_parts *k;
    const buffers *b;
} work;

/* The sums of one part: dgamma of every channel, then dbeta. */
static double *sums_of(const work *w, int stream, int64_t part) {
    return (double *)w->b->workspace + w->k->first_sum[stream] + part * 2 * w->p->in_channels[stream];
}

static void sum_part(void *context, int64_t index) {
    static const int slots[3] = {LAYERNORM_X, LAYERNORM_Y, -1};
    const work *w = context;
    row_part part = row_parts_find(w->k, index);
    row_block rows = row_parts_block(w->p, w->b, &part, slots);
    double *dgamma = sums_of(w, part.stream, part.index);
    memset(dgamma, 0, (size_t)(2 * rows.channels) * sizeof *dgamma);
    w->k->loops->layernorm_sums(dgamma, dgamma + rows.channels, &rows, w->p->eps);
}

static int64_t finish_parts(const braid_problem *p, int i) { return ceil_div(p->in_channels[i], FINISH_CHANNELS); }

static void finish_part(void *context, int64_t index) {
    const work *w = context;
    int i = 0;
    while (index >= finish_parts(w->p, i)) index -= finish_parts(w->p, i++);
    int64_t channels = w->p->in_channels[i], begin = index * FINISH_CHANNELS;
    int64_t end = at_most(begin + FINISH_CHANNELS, channels);
    double dgamma[FINISH_CHANNELS] = {0}, dbeta[FINISH_CHANNELS] = {0};
    for (int64_t part = 0; part < w->k->parts[i]; part++) {
        const double *sums = sums_of(w, i, part);
        for (int64_t c = begin; c < end; c++) {
            dgamma[c - begin] += sums[c];
            dbeta[c - begin] += sums[channels + c];
        }
    }
    for (int64_t c = begin; c < end; c++) {
        ((float *)w->b->plane[LAYERNORM_GAMMA][i])[c] = (float)dgamma[c - begin];
        ((float *)w->b->plane[LAYERNORM_BETA][i])[c] = (float)dbeta[c - begin];
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    work w = {p, state, b};
    int64_t parts = 0;
    (void)d;
    for (int i = 0; i < p->streams; i++) parts += finish_parts(p, i);
    threads_for(w.k->all_parts, sum_part, &w);
    threads_for(parts, finish_part, &w);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, layernorm_bwd_weight, cpu_direct, rows, supports_all, row_parts_cost, row_parts_create_sums,
             launch, row_parts_destroy)
