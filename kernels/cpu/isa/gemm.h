/*
 * The tile of every matrix product on the CPU: a few rows times a few vectors of columns, held in
 * registers while the sum runs. One tile per instruction set, all with the same contract; everything
 * above (what a row is, packing, threads) does not know which one it drives.
 *
 * A tile multiplies numbers of one format, floats or bf16, and sums in float. Packed operands are made of
 * units of four bytes: one float, or two bf16 numbers that follow each other in the sum (a zero behind an
 * odd last one), because that is what the instructions for bf16 multiply at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_GEMM_H
#define BRAID_KERNELS_CPU_ISA_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "braid.h"
#include "kernels/cpu/isa/halves.h"

#define GEMM_MAX_ROWS 32    /* the largest `rows` of any tile */
#define GEMM_MIN_ROWS 4     /* the smallest */
#define GEMM_MAX_COLUMNS 32 /* the largest `columns` of any tile */

/*
 * out[i][j] = start + sum over t < taps, d < depth of row[t * tile->rows + i][d] * panel[t][d][j]
 * for i < m, j < n, where start is out[i][j] if accumulate, else init[j], else 0 where init is NULL.
 * The terms are added in the order of t, then d, whatever m and n are. Rows are read over `depth` numbers
 * and no further.
 */
typedef struct gemm_rows {
    int m, n; /* 1 to tile->rows, 1 to tile->columns */
    int accumulate;
    int64_t taps, depth;
    const void *const *row; /* [taps][tile->rows], of numbers */
    const void *panel;      /* [taps][units of the depth][tile->columns], of units */
    const float *init;      /* [n] or NULL */
    float *const *out;      /* [m] */
    /* NULL, or as row: what later calls read, which this one fetches into the second-level cache. It is the rows
     * ahead_first, ahead_first + ahead_step, ... of the taps whose first pointer is not NULL. A tile may leave it. */
    const void *const *ahead;
    int ahead_first, ahead_step;
} gemm_rows;

/*
 * out[i * pitch + j] = (accumulate ? out[i * pitch + j] : 0)
 *                      + sum over t < depth of rows[t * row_pitch + i] * column[t][j]
 * for i < m, j < n. The sum is made first, then added to out. A tile of bf16 takes packed operands instead, and the
 * rows from `first` on; where tile->rows is a multiple of GEMM_PACKED_STEP, `first` is one of tile->rows.
 */
typedef struct gemm_outer {
    int m, n; /* 1 to tile->rows, 1 to tile->columns */
    int accumulate;
    int64_t depth, pitch, row_pitch;
    const float *rows;              /* [depth][row_pitch] */
    const float *const *column;     /* [depth]; readable over n rounded up to tile->columns / 2 */
    const uint32_t *packed_rows;    /* by tile->pack_rows */
    const uint32_t *packed_columns; /* [units of the depth][tile->columns], with zeros up to a multiple of 16 units */
    int64_t first, row_count;       /* of packed rows: the first one that is wanted, and all there are */
    float *out;
} gemm_outer;

/* Units of a packed operand of pack_rows: the rows and the units of the depth are rounded up to this. */
#define GEMM_PACKED_STEP 16

#define GEMM_MAX_DOT_ROWS 4
#define GEMM_DOT_COLUMNS 4

/*
 * out[i][j] = sum over d < depth of row[i][d] * column[j][d], for i < m, j < n: both operands as they lie, for
 * products too small to pack. Terms are summed lane by lane, then the lanes pairwise; m and n do not matter.
 */
typedef struct gemm_dots {
    int m, n; /* 1 to tile->dot_rows, 1 to GEMM_DOT_COLUMNS */
    int64_t depth;
    const void *row[GEMM_MAX_DOT_ROWS], *column[GEMM_DOT_COLUMNS];
    float out[GEMM_MAX_DOT_ROWS][GEMM_DOT_COLUMNS];
} gemm_dots;

typedef struct gemm_tile {
    const char *name;         /* "avx512" */
    int rows, columns;        /* at most */
    int dot_rows;             /* at most; 0: no run_dots */
    double flops;             /* a second, of one core: what a cost model may expect */
    const halves *bf16, *f16; /* conversions, by the same instruction set */
    void (*run_rows)(const gemm_rows *g);
    void (*run_outer)(const gemm_outer *g);
    void (*run_dots)(gemm_dots *g);
    /* Of a tile that multiplies floats: lays operands side by side for run_outer,
     * to[t * whole + i] = from[t][first + i] for i < count, and zeros up to `whole`, which is count in whole vectors of
     * tile->columns / 2. count is 1 to tile->rows, or whole. */
    void (*lay)(float *to, const float *const *from, int64_t depth, int64_t first, int count);
    /* Of a tile that multiplies bf16; NULL where it multiplies floats. pack_rows lays `rows` numbers from each of
     * `depth` pointers for run_outer. pack_pair makes units of two rows: to[j] = a[j], b[j], or 0 where b is NULL. */
    void (*pack_rows)(uint32_t *to, const uint16_t *const *from, int64_t depth, int64_t rows);
    void (*pack_pair)(uint32_t *to, const uint16_t *a, const uint16_t *b, int64_t count);
    /* Packing of units, whatever they hold: to[d][j] = from[j][d] for a square of GEMM_PACKED_STEP on a side, whose
     * lines are so many bytes apart. NULL: one by one is as fast. */
    void (*turn)(void *to, int64_t to_pitch, const void *from, int64_t pitch);
    /* Called on a thread before it runs the tile, and after; NULL where there is nothing to ready. */
    void (*enter)(void);
    void (*leave)(void);
} gemm_tile;

extern const gemm_tile gemm_avx512, gemm_avx2, gemm_portable; /* floats */
extern const gemm_tile gemm_amx_bf16, gemm_avx512_bf16;

static inline int gemm_is_bf16(const gemm_tile *tile) { return tile->pack_rows != 0; }

static inline void gemm_enter(const gemm_tile *tile) {
    if (tile->enter) tile->enter();
}

static inline void gemm_leave(const gemm_tile *tile) {
    if (tile->leave) tile->leave();
}

/* The conversions that planes of a dtype need; NULL: they hold floats. */
static inline const halves *gemm_halves(const gemm_tile *tile, braid_dtype dtype) {
    return dtype == BRAID_DTYPE_BF16 ? tile->bf16 : dtype == BRAID_DTYPE_F16 ? tile->f16 : NULL;
}

/* Units of a depth. */
static inline int64_t gemm_units(const gemm_tile *tile, int64_t depth) {
    return gemm_is_bf16(tile) ? (depth + 1) / 2 : depth;
}

#endif
