/*
 * The convolution of images with few channels: the first layer of a network. An output row is made from
 * copies of the input rows that it reads, with the padding around them, so that nothing has an edge and
 * neighbouring output pixels are a constant distance apart. What a filter row sees lies side by side: its
 * taps and channels are one short sum, read where it lies.
 *
 * Forward: pixels times weights, packed [tap and channel][output channel]. Weight gradient: the same values
 * times dy, which is read where it lies too, summed along the rows; the rows are cut into splits that
 * depend on the problem alone, whose sums are added in order.
 *
 * Planes are f32, or bf16 or f16: copies of those are floats, sums are, and each result is rounded once. A tile
 * that multiplies bf16 takes copies of bf16 as they are; it makes the forward pass only. One that multiplies whole
 * pairs takes copies with an even number of channels, the last one zero, and a filter row at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_LINES_H
#define BRAID_KERNELS_CPU_TILE_LINES_H

#include "kernels/cpu/tile/gemm.h"
#include "kernels/kernel.h"

/*
 * out[i * out_pitch + j] = init[j] + sum over t < taps, d < depth of
 *                          source[offset[t * depth] + i * step + d] * panel[t][d][j]
 * for i < m, j < n, rounded to `dtype`. init has whole vectors.
 */
typedef struct lines_rows {
    int m, n;          /* 1 to gemm->rows, 1 to gemm->columns */
    int past_caches;   /* 1: out is written to memory at once; rows of out are aligned to 64 bytes then */
    braid_dtype dtype; /* of out: f32, bf16, f16 */
    int64_t taps, depth, step, out_pitch;
    const int64_t *offset;
    const void *source; /* numbers of the tile */
    const void *panel;  /* [taps][units of the depth][tile->columns], of units: gemm.h */
    const float *init;
    void *out;
} lines_rows;

/*
 * out[i * out_pitch + j] = (accumulate ? out[i * out_pitch + j] : 0)
 *                          + sum over q < count of source[offset[i] + q * step] * column[q * column_pitch + j]
 * for i < m, j < n; n, column and out have whole vectors. The sum is made first, then added to out.
 */
typedef struct lines_outer {
    int m, n;
    int accumulate;
    int64_t count, step, column_pitch, out_pitch;
    const int64_t *offset;
    const float *source, *column;
    float *out;
} lines_outer;

typedef struct lines_tile {
    const gemm_tile *gemm;
    void (*run_rows)(const lines_rows *g);
    void (*fence)(void);                     /* after the last run_rows of a thread, before others read `out` */
    void (*run_outer)(const lines_outer *g); /* NULL where the tile multiplies bf16 */
    int pairs;                               /* 1: filter rows are multiplied in whole pairs of channels, 16 at most */
} lines_tile;

extern const lines_tile lines_avx512, lines_avx2, lines_portable; /* floats */
extern const lines_tile lines_avx512_bf16, lines_amx_bf16;

/* NULL, or why the problem is none for it: 1 to 4 input channels, one group. */
const char *lines_supports(const braid_problem *p, const device *d);

/* The same for lines_amx_bf16, whose filter rows must fit a tile register. */
const char *lines_amx_supports(const braid_problem *p, const device *d);

/* Ready the forward pass or the weight gradient. Return a state for lines_destroy. */
braid_status lines_create(const braid_problem *p, const lines_tile *tile, void **state, size_t *workspace_bytes);

/* Run them on the buffers of conv2d; the forward pass when the weights are packed. */
braid_status lines_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status lines_run_forward(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status lines_launch_weight(const braid_problem *p, device *d, void *state, const buffers *b);

/*
 * The same for a caller that goes on with the pixels of a block while they are in the cache: a block is made
 * for all streams, then `then` is called for its pixels, from several threads at once.
 */
typedef void lines_then(void *context, int64_t first_pixel, int64_t pixels);
void lines_run_blocks(const void *state, const buffers *b, lines_then *then, void *context);

void lines_destroy(device *d, void *state);

/* Predicted seconds, at the tile's rate. */
double lines_cost(const braid_problem *p, const lines_tile *tile);

#endif
