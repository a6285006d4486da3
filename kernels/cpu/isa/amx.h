/*
 * The tile of gemm.h for bf16 on AMX, as two layers: where numbers lie (amx.c, plain AVX-512) and the product
 * of blocks that the tile registers hold (gemm_amx.c). The product is an argument of the upper layer, so that
 * a test can run it with plain loops on a machine without AMX.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_AMX_H
#define BRAID_KERNELS_CPU_ISA_AMX_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/cpu/isa/few_channels.h"

#define AMX_SIDE 16    /* rows and columns of a tile register, and units of the depth that one step multiplies */
#define AMX_ROWS 32    /* of the product: two registers by two */
#define AMX_COLUMNS 32 /* of the product and of a packed panel */

/* Some steps of the sum. Row i of row tile r and step s is the AMX_SIDE units at a[r] + s * step + i * stride[r]. */
typedef struct amx_segment {
    const unsigned char *a[2];
    int64_t stride[2]; /* bytes */
    int64_t step;      /* bytes */
    int64_t steps;
    const uint32_t *b; /* [steps * AMX_SIDE][AMX_COLUMNS] */
} amx_segment;

/* c = (accumulate ? c : 0) + the sum over all steps of all segments, for whole registers. */
typedef struct amx_blocks {
    int row_tiles, column_tiles; /* 1 or 2 */
    int accumulate;
    int segments;
    const amx_segment *segment;
    float *c; /* [row_tiles * AMX_SIDE][column_tiles * AMX_SIDE], rows c_pitch floats apart */
    int64_t c_pitch;
} amx_blocks;

typedef void amx_product(const amx_blocks *g);

/* run_rows and run_outer of gemm_tile for tiles of AMX_ROWS x AMX_COLUMNS. */
void amx_rows(const gemm_rows *g, amx_product *product);
void amx_outer(const gemm_outer *g, amx_product *product);

/* c = the sum over t < taps of windows by b: row i of tap t is the `units` units at source + offset[t] + i * stride. */
typedef struct amx_windows {
    int rows;         /* 1 to AMX_ROWS */
    int column_tiles; /* 1 or 2 */
    int units;        /* of a tap: 1 to AMX_SIDE */
    int64_t taps, stride;
    const unsigned char *source;
    const int64_t *offset; /* offset[t * 2 * units], in numbers; stride is in bytes */
    const uint32_t *b;     /* [taps][units][AMX_COLUMNS] */
    float *c;              /* [rows][AMX_COLUMNS] */
} amx_windows;

typedef void amx_window_product(const amx_windows *g);

/* run_rows of few_channels_tile for bf16, of taps that have whole units. */
void amx_line_rows(const few_channels_rows *g, amx_window_product *product);

/* pack_rows of gemm_tile: [row tile][step][AMX_SIDE rows][AMX_SIDE units], zeros behind the last row and unit. */
void amx_pack_rows(uint32_t *to, const uint16_t *const *from, int64_t depth, int64_t rows);

#endif
