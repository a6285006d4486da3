/*
 * linear forward, in two ways: the packed product of tile/indirect_gemm.h, a sample being an image of one
 * pixel; and dot products of rows of x and rows of w as they lie, for batches so small that packing the
 * weights would cost more than using them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/threads.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

#define COLUMNS_IN_PART 32
#define SAMPLES_IN_PART 64

PACKED_KERNELS(AMX_BF16, linear_fwd, cpu_indirect_gemm, gemm, supports_all, indirect_gemm_cost,
               indirect_gemm_create_forward, KERNEL_SLOT(LINEAR_W), indirect_gemm_pack, indirect_gemm_run,
               indirect_gemm_destroy)

typedef struct dots {
    const braid_problem *p;
    const gemm_tile *tile;
    const buffers *b;
    int64_t bytes; /* of a number: f32 with a tile of floats, bf16 with one of bf16 */
} dots;

/* Some columns of some samples of one stream. */
typedef struct dots_part {
    const dots *l;
    int stream;
    int64_t column_begin, column_end, sample_begin, sample_end;
    int64_t sample[GEMM_MAX_DOT_ROWS]; /* those in work */
} dots_part;

/* The tile is all the state there is. */
static braid_status dots_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    (void)p;
    *state = (void *)(uintptr_t)tile;
    *bytes = 0;
    return BRAID_OK;
}

static void dots_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

/* Dot products reach about half the rate of packed ones, once the operands leave the first-level cache. */
static double dots_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    return cost_seconds(p, on, tile->flops / 2, 1, 5e-7);
}

static int64_t column_parts(const braid_problem *p, int i) { return ceil_div(p->out_channels[i], COLUMNS_IN_PART); }

static int64_t sample_parts(const braid_problem *p) { return ceil_div(p->batch, SAMPLES_IN_PART); }

static void find_part(dots_part *a, int64_t index) {
    const braid_problem *p = a->l->p;
    a->sample_begin = index % sample_parts(p) * SAMPLES_IN_PART;
    a->sample_end = at_most(a->sample_begin + SAMPLES_IN_PART, p->batch);
    index /= sample_parts(p);
    while (index >= column_parts(p, a->stream)) index -= column_parts(p, a->stream++);
    a->column_begin = index * COLUMNS_IN_PART;
    a->column_end = at_most(a->column_begin + COLUMNS_IN_PART, p->out_channels[a->stream]);
}

/* Writes the zeros of one sample: its columns where it is blanked, and the lanes behind the last one. */
static void clear_sample(const dots_part *a, int64_t sample, int blank) {
    const braid_problem *p = a->l->p;
    int64_t channels = p->out_channels[a->stream], pitch = p->out_pitch[a->stream];
    int64_t bytes = a->l->bytes;
    unsigned char *y = (unsigned char *)a->l->b->plane[LINEAR_Y][a->stream] + sample * pitch * bytes;
    if (blank) zero_bytes(y + a->column_begin * bytes, (a->column_end - a->column_begin) * bytes);
    if (a->column_end == channels) zero_bytes(y + channels * bytes, (pitch - channels) * bytes);
}

/* Lists active samples from `next` on, as many as the tile takes. Returns the first not looked at. */
static int64_t list_samples(dots_part *a, gemm_dots *g, int64_t next) {
    const unsigned char *x = a->l->b->plane[LINEAR_X][a->stream];
    g->m = 0;
    for (; next < a->sample_end && g->m < a->l->tile->dot_rows; next++) {
        int blank = mask_blanks(a->l->b->plane[LINEAR_MASK][a->stream], next);
        clear_sample(a, next, blank);
        if (blank) continue;
        g->row[g->m] = x + next * a->l->p->in_pitch[a->stream] * a->l->bytes;
        a->sample[g->m++] = next;
    }
    return next;
}

/* The columns [first, first + g->n) of the listed samples. */
static void make_columns(const dots_part *a, gemm_dots *g, int64_t first) {
    const gemm_tile *tile = a->l->tile;
    const unsigned char *w = a->l->b->plane[LINEAR_W][a->stream];
    const void *bias = a->l->b->plane[LINEAR_BIAS][a->stream];
    void *y = a->l->b->plane[LINEAR_Y][a->stream];
    float start[GEMM_DOT_COLUMNS] = {0}, sum[GEMM_DOT_COLUMNS];
    if (bias && gemm_is_bf16(tile))
        tile->bf16->widen(start, (const uint16_t *)bias + first, g->n);
    else if (bias)
        for (int j = 0; j < g->n; j++) start[j] = ((const float *)bias)[first + j];
    for (int j = 0; j < g->n; j++) g->column[j] = w + (first + j) * g->depth * a->l->bytes;
    tile->run_dots(g);
    for (int i = 0; i < g->m; i++) {
        int64_t at = a->sample[i] * a->l->p->out_pitch[a->stream] + first;
        for (int j = 0; j < g->n; j++) sum[j] = g->out[i][j] + start[j];
        if (gemm_is_bf16(tile))
            tile->bf16->narrow((uint16_t *)y + at, sum, g->n);
        else
            for (int j = 0; j < g->n; j++) ((float *)y)[at + j] = sum[j];
    }
}

static void run_part(void *context, int64_t index) {
    dots_part a = {.l = context};
    find_part(&a, index);
    gemm_dots g = {.depth = a.l->p->in_channels[a.stream]};
    for (int64_t next = a.sample_begin; next < a.sample_end;) {
        next = list_samples(&a, &g, next);
        for (int64_t first = a.column_begin; first < a.column_end && g.m; first += GEMM_DOT_COLUMNS) {
            g.n = (int)at_most(a.column_end - first, GEMM_DOT_COLUMNS);
            make_columns(&a, &g, first);
        }
    }
}

static braid_status dots_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    dots l = {p, state, b, (int64_t)dtype_bytes(p->dtype)};
    int64_t parts = 0;
    (void)d;
    for (int i = 0; i < p->streams; i++) parts += column_parts(p, i);
    threads_for(parts * sample_parts(p), run_part, &l);
    return BRAID_OK;
}

TILE_KERNEL(linear_fwd_bf16__cpu_dot_avx512_bf16, gemm_avx512_bf16, supports_all, dots_cost, dots_create, dots_launch,
            dots_destroy)
TILE_KERNELS(AVX512, linear_fwd_f32, cpu_dot, gemm, supports_all, dots_cost, dots_create, dots_launch, dots_destroy)
