/*
 * The argument of weight_sum, the second stage of weight gradients: the parts that first stages left in their
 * workspaces are added in order and written as dw and dbias. A table of planes, of one call or of several.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_WEIGHT_SUM_H
#define BRAID_KERNELS_CUDA_REDUCE_WEIGHT_SUM_H

#include <stdint.h>

#include "braid.h"

#define WEIGHT_SUM_PLANES 44 /* so that the argument has 4096 bytes at most */

/* Parts that lie as the gradient does. */
struct weight_sum_rows {
    void *bias;       /* [filters]; NULL: none, and then no column for it */
    int64_t step;     /* floats from one part to the next */
    int64_t elements; /* of one part: [filters][length, and 1 for the bias] */
    int64_t columns;  /* of that */
    int32_t parts;
    int32_t width; /* elements side by side that a thread has: 4 where there is no bias and all begins at fours, or 1 */
};

/* Parts that lie as the accumulators of weight_tiles.h do, whose words these are. */
struct weight_sum_tiles {
    int32_t units, tile_units, ctas;
    int32_t first_tile, column_tiles; /* of this plane */
    int32_t channels, filters, taps;
    int32_t tile_rows, tile_blocks, warpgroup_blocks, stacked;
    int32_t fours; /* sums of a thread block, of four accumulators each */
};

struct weight_sum_plane {
    const float *from; /* the first part: of rows this plane's, of tiles that of all planes */
    void *w;
    int32_t dtype;    /* of w and the bias; of tiles f16 or bf16 */
    int32_t slices;   /* of the parts, which threads of a block add side by side: a power of 2 */
    int32_t is_tiled; /* 1: `tiles`, 0: `rows` */
    int32_t blocks;   /* thread blocks */
    union {
        struct weight_sum_rows rows;
        struct weight_sum_tiles tiles;
    } as;
};

struct weight_sum_args {
    struct weight_sum_plane plane[WEIGHT_SUM_PLANES];
    int32_t first_block[WEIGHT_SUM_PLANES + 1];
    int32_t planes;
};

#define WEIGHT_SUM_ARGS_BYTES 4056

#ifdef __cplusplus
static_assert(sizeof(struct weight_sum_args) == WEIGHT_SUM_ARGS_BYTES, "kernel and launcher agree on weight_sum_args");
#else
_Static_assert(sizeof(struct weight_sum_args) == WEIGHT_SUM_ARGS_BYTES, "kernel and launcher agree on weight_sum_args");
#endif

#endif
