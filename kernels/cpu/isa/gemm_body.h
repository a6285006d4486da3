/*
 * The register tiles of gemm.h, in terms of vec_*.h. Included once per instruction set, after
 * TILE_ROWS and TILE_DOT_ROWS are defined: the rows times two vectors, or times four columns, that the
 * registers hold.
 * Every number of rows has its own unrolled code, so that a remainder costs what it is worth. A
 * remainder of columns is computed in whole vectors beside the output, and copied.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/isa/gemm.h"

#define TILE_COLUMNS (2 * VEC_LANES)
#define LINE_UNITS 16 /* of a cache line */
#define OUT_FETCHES 4 /* rows of the output that are fetched at once, and not so many that loads wait for them */

/* Units of gemm.h: floats, unless the including file has defined another kind. */
#ifndef UNIT_NUMBERS
#define UNIT_NUMBERS 1
typedef float unit;
typedef vec units;
VEC_INLINE units units_load(const unit *from) { return vec_load(from); }
VEC_INLINE units units_spread(unit a) { return vec_spread(a); }
VEC_INLINE vec units_mul_add(units a, units b, vec c) { return vec_mul_add(a, b, c); }
VEC_INLINE unit unit_last(const unit *from) { return *from; }
VEC_INLINE const unit *outer_row(const gemm_outer *g, int64_t t) { return g->rows + t * g->row_pitch; }
VEC_INLINE const unit *outer_column(const gemm_outer *g, int64_t t) { return g->column[t]; }
#endif

/* sum[i] and, where there are two vectors, high[i] gain value * panel, for every row i of one step. */
#define TILE_STEP(value)                                                                \
    units low_ = units_load(panel), high_ = two ? units_load(panel + VEC_LANES) : low_; \
    _Pragma("GCC unroll 16") for (int i = 0; i < m; i++) {                              \
        units factor_ = units_spread(value);                                            \
        sum[i] = units_mul_add(factor_, low_, sum[i]);                                  \
        if (two) high[i] = units_mul_add(factor_, high_, high[i]);                      \
    }

/* m and two are constants where this is inlined. out and init are readable and writable over whole vectors. */
VEC_INLINE void rows_tile(const gemm_rows *g, const int m, const int two) {
    static const float zeros[TILE_COLUMNS];
    const float *const init = g->init ? g->init : zeros;
    vec sum[TILE_ROWS], high[TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        const float *start = g->accumulate ? g->out[i] : init;
        sum[i] = vec_load(start);
        if (two) high[i] = vec_load(start + VEC_LANES);
    }
    const unit *panel = g->panel;
    const int64_t whole = g->depth / UNIT_NUMBERS;
    int fetched = 0;
    for (int64_t t = 0; t < g->taps; t++) {
        const unit *row[TILE_ROWS];
        const void *const *ahead = g->ahead ? g->ahead + t * TILE_ROWS : NULL;
        const int ahead_end = ahead && ahead[0] ? m : 0;
#pragma GCC unroll 16
        for (int i = 0; i < m; i++) row[i] = g->row[t * TILE_ROWS + i];
        for (int64_t d = 0, end; d < whole; d = end) {
            end = whole - d > LINE_UNITS ? d + LINE_UNITS : whole;
            for (int i = 0; i < OUT_FETCHES && fetched < m; i++, fetched++) {
                __builtin_prefetch(g->out[fetched]);
                if (two) __builtin_prefetch(g->out[fetched] + VEC_LANES);
            }
            for (int i = g->ahead_first; i < ahead_end; i += g->ahead_step)
                __builtin_prefetch((const unit *)ahead[i] + d, 0, 2);
            for (int64_t u = d; u < end; u++, panel += TILE_COLUMNS) {
                TILE_STEP(row[i][u])
            }
        }
        if (g->depth % UNIT_NUMBERS) {
            TILE_STEP(unit_last(row[i] + whole))
            panel += TILE_COLUMNS;
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        vec_store(g->out[i], sum[i]);
        if (two) vec_store(g->out[i] + VEC_LANES, high[i]);
    }
}

VEC_INLINE void outer_tile(const gemm_outer *g, const int m, const int two) {
    vec sum[TILE_ROWS], high[TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        sum[i] = vec_zero();
        high[i] = vec_zero();
        __builtin_prefetch(g->out + i * g->pitch); /* which were last touched many tiles ago */
        if (two) __builtin_prefetch(g->out + i * g->pitch + VEC_LANES);
    }
    for (int64_t t = 0; t < (g->depth + UNIT_NUMBERS - 1) / UNIT_NUMBERS; t++) {
        const unit *row = outer_row(g, t), *panel = outer_column(g, t);
        TILE_STEP(row[i])
    }
#pragma GCC unroll 16
    for (int i = 0; i < m; i++) {
        float *out = g->out + i * g->pitch;
        vec_store(out, g->accumulate ? vec_add(vec_load(out), sum[i]) : sum[i]);
        if (two) vec_store(out + VEC_LANES, g->accumulate ? vec_add(vec_load(out + VEC_LANES), high[i]) : high[i]);
    }
}

/* The code of one number of rows. */
/* clang-format off */
#define TILE_CASE(tile, m)                   \
    case m:                                  \
        if (g->n > VEC_LANES) tile(g, m, 1); \
        else tile(g, m, 0);                  \
        break;

#if TILE_ROWS == 14
#define TILE_CASES(tile)                                                                                \
    TILE_CASE(tile, 14) TILE_CASE(tile, 13) TILE_CASE(tile, 12) TILE_CASE(tile, 11) TILE_CASE(tile, 10) \
    TILE_CASE(tile, 9) TILE_CASE(tile, 8) TILE_CASE(tile, 7) TILE_CASE(tile, 6) TILE_CASE(tile, 5)      \
    TILE_CASE(tile, 4) TILE_CASE(tile, 3) TILE_CASE(tile, 2) TILE_CASE(tile, 1)
#elif TILE_ROWS == 6
#define TILE_CASES(tile) \
    TILE_CASE(tile, 6) TILE_CASE(tile, 5) TILE_CASE(tile, 4) TILE_CASE(tile, 3) TILE_CASE(tile, 2) TILE_CASE(tile, 1)
#else
#define TILE_CASES(tile) TILE_CASE(tile, 4) TILE_CASE(tile, 3) TILE_CASE(tile, 2) TILE_CASE(tile, 1)
#endif
/* clang-format on */

VEC_TARGET static void whole_rows(const gemm_rows *g) {
    switch (g->m) { TILE_CASES(rows_tile) }
}

VEC_TARGET static void whole_outer(const gemm_outer *g) {
    switch (g->m) { TILE_CASES(outer_tile) }
}

static int is_whole(int n) { return n == VEC_LANES || n == TILE_COLUMNS; }

/* A product whose columns do not fill whole vectors: made beside the output, and copied. */
static void part_rows(const gemm_rows *g) {
    gemm_rows whole = *g;
    float init[TILE_COLUMNS] = {0}, edge[TILE_ROWS][TILE_COLUMNS];
    float *out[TILE_ROWS];
    if (g->init) memcpy(init, g->init, (size_t)g->n * sizeof *init);
    whole.init = init;
    for (int i = 0; i < g->m; i++) {
        out[i] = edge[i];
        if (g->accumulate) memcpy(edge[i], g->out[i], (size_t)g->n * sizeof(float));
    }
    whole.out = out;
    whole_rows(&whole);
    for (int i = 0; i < g->m; i++) memcpy(g->out[i], edge[i], (size_t)g->n * sizeof(float));
}

static void run_rows(const gemm_rows *g) {
    if (is_whole(g->n))
        whole_rows(g);
    else
        part_rows(g);
}

static void run_outer(const gemm_outer *g) {
    if (is_whole(g->n)) {
        whole_outer(g);
        return;
    }
    gemm_outer whole = *g;
    float edge[TILE_ROWS][TILE_COLUMNS];
    for (int i = 0; i < g->m && g->accumulate; i++)
        memcpy(edge[i], g->out + i * g->pitch, (size_t)g->n * sizeof(float));
    whole.out = edge[0];
    whole.pitch = TILE_COLUMNS;
    whole_outer(&whole);
    for (int i = 0; i < g->m; i++) memcpy(g->out + i * g->pitch, edge[i], (size_t)g->n * sizeof(float));
}

#if UNIT_NUMBERS == 1
VEC_TARGET static void lay(float *to, const float *const *from, int64_t depth, int64_t first, int count) {
    const int whole = (count + VEC_LANES - 1) / VEC_LANES * VEC_LANES;
    for (int64_t t = 0; t < depth; t++, to += whole) {
        const float *source = from[t] + first;
        __builtin_prefetch(source + count, 0, 2); /* what the next call lays */
        if (count == TILE_COLUMNS) {
            __builtin_prefetch(source + count + VEC_LANES, 0, 2);
            vec_store(to, vec_load(source));
            vec_store(to + VEC_LANES, vec_load(source + VEC_LANES));
        } else if (count == VEC_LANES) {
            vec_store(to, vec_load(source));
        } else {
            vec_store(to, vec_load_some(source, count));
        }
    }
}
#endif

/* The sum of the lanes, by halves. */
VEC_INLINE float sum_lanes(vec a) {
    float lane[VEC_LANES];
    vec_store(lane, a);
    for (int half = VEC_LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    }
    return lane[0];
}

#if UNIT_NUMBERS == 1
/* The lanes of a, and the products of the last `count` numbers, fewer than a vector of them. */
VEC_INLINE float sum_dots(vec a, const unit *row, const unit *column, int64_t count) {
    float total = sum_lanes(a);
    for (int64_t d = 0; d < count; d++) total += row[d] * column[d];
    return total;
}
#else
VEC_INLINE float sum_dots(vec a, const unit *row, const unit *column, int64_t count) {
    return sum_lanes(units_mul_add(units_load_some(row, count), units_load_some(column, count), a));
}
#endif

/* m and n are constants where this is inlined. */
VEC_INLINE void dots_tile(gemm_dots *g, const int m, const int n) {
    vec sum[TILE_DOT_ROWS * GEMM_DOT_COLUMNS];
    units column[GEMM_DOT_COLUMNS];
    const int64_t whole = g->depth / UNIT_NUMBERS;
    int64_t d = 0;
#pragma GCC unroll 16
    for (int i = 0; i < m * n; i++) sum[i] = vec_zero();
    for (; d + VEC_LANES <= whole; d += VEC_LANES) {
#pragma GCC unroll 4
        for (int j = 0; j < n; j++) column[j] = units_load((const unit *)g->column[j] + d);
#pragma GCC unroll 4
        for (int i = 0; i < m; i++) {
            units row = units_load((const unit *)g->row[i] + d);
#pragma GCC unroll 4
            for (int j = 0; j < n; j++) sum[i * n + j] = units_mul_add(row, column[j], sum[i * n + j]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < m; i++) {
#pragma GCC unroll 4
        for (int j = 0; j < n; j++) {
            const unit *row = (const unit *)g->row[i] + d, *other = (const unit *)g->column[j] + d;
            g->out[i][j] = sum_dots(sum[i * n + j], row, other, g->depth - d * UNIT_NUMBERS);
        }
    }
}

/* Columns that are not four go one by one. */
VEC_INLINE void dots_rows(gemm_dots *g, const int m) {
    if (g->n == GEMM_DOT_COLUMNS) {
        dots_tile(g, m, GEMM_DOT_COLUMNS);
        return;
    }
    for (int j = 0; j < g->n; j++) {
        gemm_dots one = *g;
        one.column[0] = g->column[j];
        dots_tile(&one, m, 1);
        for (int i = 0; i < m; i++) g->out[i][j] = one.out[i][0];
    }
}

VEC_TARGET static void run_dots(gemm_dots *g) {
    switch (g->m) {
        case 1: dots_rows(g, 1); break;
        case 2: dots_rows(g, 2); break;
#if TILE_DOT_ROWS == 4
        case 3: dots_rows(g, 3); break;
        case 4: dots_rows(g, 4); break;
#endif
    }
}
