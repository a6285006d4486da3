/*
 * The tile of every matrix product on the CPU: a few rows times a few vectors of columns, held in
 * registers while the sum runs. One tile per instruction set, all with the same contract; everything
 * above (what a row is, packing, threads) does not know which one it drives.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_GEMM_H
#define BRAID_KERNELS_CPU_TILE_GEMM_H

#include <stdint.h>

#define GEMM_MAX_ROWS 14    /* the largest `rows` of any tile */
#define GEMM_MAX_COLUMNS 32 /* the largest `columns` of any tile */

/*
 * out[i][j] = start + sum over t < taps, d < depth of
 *             row[t * tile->rows + i][d] * panel[(t * depth + d) * tile->columns + j]
 * for i < m, j < n, where start is out[i][j] if accumulate, else init[j], else 0 where init is NULL.
 * The terms are added in the order of t, then d, whatever m and n are.
 */
typedef struct gemm_rows {
    int m, n; /* 1 to tile->rows, 1 to tile->columns */
    int accumulate;
    int64_t taps, depth;
    const float *const *row; /* [taps][tile->rows] */
    const float *panel;      /* [taps][depth][tile->columns] */
    const float *init;       /* [n] or NULL */
    float *const *out;       /* [m] */
} gemm_rows;

/*
 * out[i * pitch + j] = (accumulate ? out[i * pitch + j] : 0) + sum over t < depth of row[t][first + i] * column[t][j]
 * for i < m, j < n. The sum is made first, then added to out.
 */
typedef struct gemm_outer {
    int m, n; /* 1 to tile->rows, 1 to tile->columns */
    int accumulate;
    int64_t depth, first, pitch;
    const float *const *row;    /* [depth] */
    const float *const *column; /* [depth]; readable over n rounded up to tile->columns / 2 */
    float *out;
} gemm_outer;

#define GEMM_MAX_DOT_ROWS 4
#define GEMM_DOT_COLUMNS 4

/*
 * out[i][j] = sum over d < depth of row[i][d] * column[j][d], for i < m, j < n: both operands as they lie, for
 * products too small to pack. Terms are summed lane by lane, then the lanes pairwise; m and n do not matter.
 */
typedef struct gemm_dots {
    int m, n; /* 1 to tile->dot_rows, 1 to GEMM_DOT_COLUMNS */
    int64_t depth;
    const float *row[GEMM_MAX_DOT_ROWS], *column[GEMM_DOT_COLUMNS];
    float out[GEMM_MAX_DOT_ROWS][GEMM_DOT_COLUMNS];
} gemm_dots;

typedef struct gemm_tile {
    const char *name;  /* "avx512" */
    int rows, columns; /* at most */
    int dot_rows;      /* at most */
    double flops;      /* a second, of one core: what a cost model may expect */
    void (*run_rows)(const gemm_rows *g);
    void (*run_outer)(const gemm_outer *g);
    void (*run_dots)(gemm_dots *g);
} gemm_tile;

extern const gemm_tile gemm_avx512, gemm_avx2, gemm_portable;

#endif
