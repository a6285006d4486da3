/*
 * The data gradient of linear, in two ways: the product of tile/indirect_gemm.h with the weights turned round; and,
 * for batches so small that packing the weights would cost more than using them, sums of rows of w as they
 * lie, times a turned copy of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

#define COLUMNS_IN_PART 512
#define TERMS_AT_ONCE 64

PACKED_KERNELS(AMX_BF16, linear_bwd_data, cpu_indirect_gemm, gemm, supports_all, indirect_gemm_cost,
               indirect_gemm_create_backward, KERNEL_SLOT(LINEAR_W), indirect_gemm_pack, indirect_gemm_run,
               indirect_gemm_destroy)

typedef struct unpacked {
    const braid_problem *p;
    const gemm_tile *tile;
    const buffers *b;
} unpacked;

/* Some columns of one stream, and some samples and terms of them. */
typedef struct unpacked_part {
    const unpacked *l;
    int stream;
    int64_t column_begin, column_end, sample, first;
    float dy[TERMS_AT_ONCE][GEMM_MAX_ROWS]; /* turned: by term, then by sample */
    const float *column[TERMS_AT_ONCE];
    float edge[TERMS_AT_ONCE][GEMM_MAX_COLUMNS]; /* of columns that do not fill whole vectors */
} unpacked_part;

/* The tile is all the state there is. */
static braid_status unpacked_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)p;
    *state = (void *)(uintptr_t)tile;
    *bytes = 0;
    return BRAID_OK;
}

static void unpacked_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

static double unpacked_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    return cost_seconds(p, on, tile->flops / 2, 1, 5e-7);
}

static int64_t unpacked_parts(const braid_problem *p, int i) { return ceil_div(p->in_channels[i], COLUMNS_IN_PART); }

static void turn_terms(unpacked_part *a, const gemm_outer *g) {
    const int64_t pitch = a->l->p->out_pitch[a->stream];
    const float *dy = a->l->b->plane[LINEAR_Y][a->stream];
    for (int i = 0; i < g->m; i++) {
        for (int64_t t = 0; t < g->depth; t++) a->dy[t][i] = dy[(a->sample + i) * pitch + a->first + t];
    }
}

/* Rows of w as they lie; copies where the tile would read behind the last column. */
static void find_columns(unpacked_part *a, const gemm_outer *g, int64_t begin) {
    const int64_t pitch = a->l->p->in_channels[a->stream], width = a->l->tile->columns;
    const float *w = (const float *)a->l->b->plane[LINEAR_W][a->stream] + a->first * pitch + begin;
    for (int64_t t = 0; t < g->depth; t++) {
        a->column[t] = w + t * pitch;
        if (g->n == width) continue;
        zero_floats(a->edge[t], width);
        copy_floats(a->edge[t], w + t * pitch, g->n);
        a->column[t] = a->edge[t];
    }
}

/* Blanked samples become zeros, and so do the lanes behind the last column. */
static void clear_samples(const unpacked_part *a, float *dx, int m) {
    const int64_t channels = a->l->p->in_channels[a->stream], pitch = a->l->p->in_pitch[a->stream];
    for (int i = 0; i < m; i++, dx += pitch) {
        int blank = mask_blanks(a->l->b->plane[LINEAR_MASK][a->stream], a->sample + i);
        if (blank) zero_floats(dx + a->column_begin, a->column_end - a->column_begin);
        if (a->column_end == channels) zero_floats(dx + channels, pitch - channels);
    }
}

static void run_samples(unpacked_part *a, gemm_outer *g) {
    const int64_t terms = a->l->p->out_channels[a->stream], width = a->l->tile->columns;
    float *dx = (float *)a->l->b->plane[LINEAR_X][a->stream] + a->sample * g->pitch;
    a->first = 0;
    do {
        g->depth = at_most(terms - a->first, TERMS_AT_ONCE);
        g->accumulate = a->first > 0;
        turn_terms(a, g);
        for (int64_t begin = a->column_begin; begin < a->column_end; begin += width) {
            g->n = (int)at_most(a->column_end - begin, width);
            g->out = dx + begin;
            find_columns(a, g, begin);
            a->l->tile->run_outer(g);
        }
        a->first += g->depth;
    } while (a->first < terms);
    clear_samples(a, dx, g->m);
}

static void unpacked_part_run(void *context, int64_t index) {
    unpacked_part a;
    a.l = context;
    a.stream = 0;
    while (index >= unpacked_parts(a.l->p, a.stream)) index -= unpacked_parts(a.l->p, a.stream++);
    a.column_begin = index * COLUMNS_IN_PART;
    a.column_end = at_most(a.column_begin + COLUMNS_IN_PART, a.l->p->in_channels[a.stream]);
    gemm_outer g = {
        .pitch = a.l->p->in_pitch[a.stream], .rows = a.dy[0], .row_pitch = GEMM_MAX_ROWS, .column = a.column};
    for (a.sample = 0; a.sample < a.l->p->batch; a.sample += a.l->tile->rows) {
        g.m = (int)at_most(a.l->p->batch - a.sample, a.l->tile->rows);
        run_samples(&a, &g);
    }
}

static braid_status unpacked_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    unpacked l = {p, state, b};
    int64_t parts = 0;
    (void)d;
    for (int i = 0; i < p->streams; i++) parts += unpacked_parts(p, i);
    threads_for(parts, unpacked_part_run, &l);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, linear_bwd_data_f32, cpu_unpacked, gemm, supports_all, unpacked_cost, unpacked_create,
             unpacked_launch, unpacked_destroy)
