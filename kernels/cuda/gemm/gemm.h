/*
 * The argument of the matrix products of linear layers on sm_90a, and their tiles.
 *
 *     pass         left           right       out           terms
 *     fwd          x [b][c]       w [k][c]    y [b][k]      channels
 *     bwd_data     dy [b][k]      w [k][c]    dx [b][c]     filters
 *     bwd_weight   dy [b][k]      x [b][c]    dw [k][c]     samples
 *
 * The copy engine brings boxes of 64 terms. An operand whose terms lie side by side (x and w forward) is "along" them,
 * one whose terms lie below each other (w of bwd_data, both of bwd_weight) is "down" them; the matrix units take both.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_GEMM_GEMM_H
#define BRAID_KERNELS_CUDA_GEMM_GEMM_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"

#define GEMM_MOST_STREAMS 6 /* so that the argument has 4096 bytes at most */
#define GEMM_THREADS 384    /* two warpgroups that multiply, one that loads */
#define GEMM_ROWS 128       /* of a tile: 64 of each warpgroup */
#define GEMM_TERMS 64       /* of a stage: 128 bytes of a row */
#define GEMM_BOX_BYTES 8192 /* 64 x 64 numbers */
#define GEMM_CHUNKS 2       /* of 64 results, on their way out, for each warpgroup */
#define GEMM_GROUP_ROWS 8 /* rows of tiles that are worked on side by side, so that the L2 cache holds their operands */

/* Tiles: name, columns, stages. */
#define GEMM_TILES(X)  \
    X(128x256, 256, 4) \
    X(128x128, 128, 6) \
    X(128x64, 64, 8)

#define GEMM_STAGE_BYTES(columns) ((GEMM_ROWS + (columns)) * GEMM_TERMS * 2)
#define GEMM_BYTES(columns, stages) \
    ((stages)*GEMM_STAGE_BYTES(columns) + 2 * GEMM_CHUNKS * GEMM_BOX_BYTES + 2 * (stages)*8)

struct gemm_plane {
    cuda_tensor_map left, right, out;
    void *bias;           /* fwd: added; bwd_weight: made; NULL: none */
    const uint32_t *mask; /* of the rows; NULL: none is blanked */
    int32_t row_tiles, column_tiles;
    int32_t stages; /* of terms */
    int32_t rows;   /* of the product */
    int32_t biases; /* columns of the product; bwd_weight: rows */
};

struct gemm_args {
    int32_t first_block[BRAID_MAX_PLANES + 1]; /* tiles of each plane */
    int32_t planes;
    float floor; /* nothing of the results lies below; NaN: no floor */
    struct gemm_plane plane[GEMM_MOST_STREAMS];
};

#ifdef __cplusplus
static_assert(sizeof(struct gemm_args) <= 4096, "the argument fits in a launch");
#else
_Static_assert(sizeof(struct gemm_args) <= 4096, "the argument fits in a launch");
#endif

#endif
