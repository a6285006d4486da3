/*
 * The register tile of the convolution of images with few channels (conv/few_channels.h): pixels that are a constant
 * distance apart times packed weights, and their products with dy. In terms of gemm.h: numbers, units and panels are
 * those of its tile.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_FEW_CHANNELS_H
#define BRAID_KERNELS_CPU_ISA_FEW_CHANNELS_H

#include "braid.h"
#include "kernels/cpu/isa/gemm.h"

/*
 * out[i * out_pitch + j] = init[j] + sum over t < taps, d < depth of
 *                          source[offset[t * depth] + i * step + d] * panel[t][d][j]
 * for i < m, j < n, rounded to `dtype`. init has whole vectors.
 */
typedef struct few_channels_rows {
    int m, n;          /* 1 to gemm->rows, 1 to gemm->columns */
    int past_caches;   /* 1: out is written to memory at once; rows of out are aligned to 64 bytes then */
    braid_dtype dtype; /* of out: f32, bf16, f16 */
    int64_t taps, depth, step, out_pitch;
    const int64_t *offset;
    const void *source; /* numbers of the tile */
    const void *panel;  /* [taps][units of the depth][tile->columns], of units: gemm.h */
    const float *init;
    void *out;
} few_channels_rows;

/*
 * out[i * out_pitch + j] = (accumulate ? out[i * out_pitch + j] : 0)
 *                          + sum over q < count of source[offset[i] + q * step] * column[q * column_pitch + j]
 * for i < m, j < n; n, column and out have whole vectors. The sum is made first, then added to out.
 */
typedef struct few_channels_outer {
    int m, n;
    int accumulate;
    int64_t count, step, column_pitch, out_pitch;
    const int64_t *offset;
    const float *source, *column;
    float *out;
} few_channels_outer;

typedef struct few_channels_tile {
    const gemm_tile *gemm;
    void (*run_rows)(const few_channels_rows *g);
    void (*fence)(void);                            /* after the last run_rows of a thread, before others read `out` */
    void (*run_outer)(const few_channels_outer *g); /* NULL where the tile multiplies bf16 */
    int pairs; /* 1: filter rows are multiplied in whole pairs of channels, 16 at most */
} few_channels_tile;

extern const few_channels_tile few_channels_avx512, few_channels_avx2, few_channels_portable; /* floats */
extern const few_channels_tile few_channels_avx512_bf16, few_channels_amx_bf16;

#endif
