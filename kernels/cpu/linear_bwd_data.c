/*
 * The data gradient of linear, in two ways: the product of tile/igemm.h with the weights turned round; and,
 * for batches so small that packing the weights would cost more than using them, sums of rows of w as they
 * lie, times a turned copy of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"

#define COLUMNS_IN_PART 512
#define TERMS_AT_ONCE 64

PACKED_KERNEL(linear_bwd_data_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, supports_all, igemm_cost, igemm_create_backward,
              KERNEL_SLOT(LINEAR_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(linear_bwd_data_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, supports_all, igemm_cost,
              igemm_create_backward, KERNEL_SLOT(LINEAR_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(linear_bwd_data__cpu_igemm_avx512, gemm_avx512, supports_all, igemm_cost, igemm_create_backward,
              KERNEL_SLOT(LINEAR_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(linear_bwd_data__cpu_igemm_avx2, gemm_avx2, supports_all, igemm_cost, igemm_create_backward,
              KERNEL_SLOT(LINEAR_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(linear_bwd_data__cpu_igemm_portable, gemm_portable, supports_all, igemm_cost, igemm_create_backward,
              KERNEL_SLOT(LINEAR_W), igemm_pack, igemm_run, igemm_destroy)

typedef struct plain {
    const braid_problem *p;
    const gemm_tile *tile;
    const buffers *b;
} plain;

/* Some columns of one stream, and some samples and terms of them. */
typedef struct plain_part {
    const plain *l;
    int stream;
    int64_t column_begin, column_end, sample, first;
    float dy[TERMS_AT_ONCE][GEMM_MAX_ROWS]; /* turned: by term, then by sample */
    const float *column[TERMS_AT_ONCE];
    float edge[TERMS_AT_ONCE][GEMM_MAX_COLUMNS]; /* of columns that do not fill whole vectors */
} plain_part;

/* The tile is all the state there is. */
static braid_status plain_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)p;
    *state = (void *)(uintptr_t)tile;
    *bytes = 0;
    return BRAID_OK;
}

static void plain_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

static double plain_cost(const braid_problem *p, const gemm_tile *tile) {
    return cost_seconds(p, tile->flops / 2, 1, 5e-7);
}

static int64_t plain_parts(const braid_problem *p, int i) { return ceil_div(p->in_channels[i], COLUMNS_IN_PART); }

static void turn_terms(plain_part *a, const gemm_outer *g) {
    const int64_t pitch = a->l->p->out_pitch[a->stream];
    const float *dy = a->l->b->plane[LINEAR_Y][a->stream];
    for (int i = 0; i < g->m; i++) {
        for (int64_t t = 0; t < g->depth; t++) a->dy[t][i] = dy[(a->sample + i) * pitch + a->first + t];
    }
}

/* Rows of w as they lie; copies where the tile would read behind the last column. */
static void find_columns(plain_part *a, const gemm_outer *g, int64_t begin) {
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
static void clear_samples(const plain_part *a, float *dx, int m) {
    const int64_t channels = a->l->p->in_channels[a->stream], pitch = a->l->p->in_pitch[a->stream];
    for (int i = 0; i < m; i++, dx += pitch) {
        int blank = mask_blanks(a->l->b->plane[LINEAR_MASK][a->stream], a->sample + i);
        if (blank) zero_floats(dx + a->column_begin, a->column_end - a->column_begin);
        if (a->column_end == channels) zero_floats(dx + channels, pitch - channels);
    }
}

static void run_samples(plain_part *a, gemm_outer *g) {
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

static void plain_part_run(void *context, int64_t index) {
    plain_part a;
    a.l = context;
    a.stream = 0;
    while (index >= plain_parts(a.l->p, a.stream)) index -= plain_parts(a.l->p, a.stream++);
    a.column_begin = index * COLUMNS_IN_PART;
    a.column_end = at_most(a.column_begin + COLUMNS_IN_PART, a.l->p->in_channels[a.stream]);
    gemm_outer g = {
        .pitch = a.l->p->in_pitch[a.stream], .rows = a.dy[0], .row_pitch = GEMM_MAX_ROWS, .column = a.column};
    for (a.sample = 0; a.sample < a.l->p->batch; a.sample += a.l->tile->rows) {
        g.m = (int)at_most(a.l->p->batch - a.sample, a.l->tile->rows);
        run_samples(&a, &g);
    }
}

static braid_status plain_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    plain l = {p, state, b};
    int64_t parts = 0;
    (void)d;
    for (int i = 0; i < p->streams; i++) parts += plain_parts(p, i);
    threads_for(parts, plain_part_run, &l);
    return BRAID_OK;
}

TILE_KERNEL(linear_bwd_data_f32__cpu_plain_avx512, gemm_avx512, supports_all, plain_cost, plain_create, plain_launch,
            plain_destroy)
TILE_KERNEL(linear_bwd_data_f32__cpu_plain_avx2, gemm_avx2, supports_all, plain_cost, plain_create, plain_launch,
            plain_destroy)
TILE_KERNEL(linear_bwd_data_f32__cpu_plain_portable, gemm_portable, supports_all, plain_cost, plain_create,
            plain_launch, plain_destroy)
