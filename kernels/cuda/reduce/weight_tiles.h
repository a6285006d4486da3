/*
 * The argument of the weight gradients on Hopper's matrix units (conv2d_bwd_weight_taps_sm90a.cu,
 * conv2d_bwd_weight_boxes_sm90a.cu) and what the second stage that some need, weight_sum.cu, knows of it.
 *
 * The gradients of all planes are cut into tiles: tile_rows filters by tile_blocks blocks, a block being 64 channels
 * of one tap. The blocks of a plane are numbered through all taps of its first 64 channels, then of the next. A tile
 * is the sum of its units: pieces of the output pixels, [sample][row of pieces][piece of a row]. The units of all
 * tiles, one after the other, are cut into `ctas` equal runs. Where at most three CTAs share a tile, they add their
 * parts by a tree (tile/sum_tree.cuh), and the one that has the whole writes dw; where more do, each leaves its part,
 * and the second stage adds them in the order of the CTAs. All of it follows from the problem alone.
 *
 * A CTA has a part of a tile that is not the tile's first at the begin of its run only. So the joins of all trees are
 * numbered by CTAs: join j of a tile is that of the CTA which has part j.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_WEIGHT_TILES_H
#define BRAID_KERNELS_CUDA_REDUCE_WEIGHT_TILES_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"

#define WEIGHT_BLOCK 64         /* channels of a block */
#define WEIGHT_BLOCK_FOURS 1024 /* four accumulators each: a block of 64 filters */
#define WEIGHT_STEP 16          /* pixels that one matrix instruction adds up */
#define WEIGHT_PIXEL_BYTES 128  /* of one pixel's 64 channels or filters in shared memory */
#define WEIGHT_MAX_STAGES 8
#define WEIGHT_MAX_GROUPS 3     /* warpgroups that multiply */
#define WEIGHT_MEETING_BYTES 16 /* behind the stages and their barriers: a word for each of them */

struct weight_tiles_plane {
    cuda_tensor_map x, dy;
    const uint32_t *mask;
    void *dw;
    int32_t channels, filters;
    int32_t first_tile;   /* of this plane among the tiles of all */
    int32_t column_tiles; /* tiles side by side */
};

struct weight_tiles_args {
    struct weight_tiles_plane plane[BRAID_MAX_PLANES];
    float *workspace;   /* [cta + tile, of trees join and branch][tile_rows x tile_blocks x 64, as accumulators lie] */
    uint32_t *counters; /* [join][warpgroup] */
    int64_t units;      /* of all tiles */
    int32_t planes, tiles, ctas;
    int32_t batch, piece_rows, piece_columns; /* units of one tile */
    int32_t rows, columns;                    /* output pixels of a unit */
    int32_t steps, last_steps;                /* of a unit, and of one in the last row of pieces */
    int32_t stages;                           /* of shared memory; each is dy and then x ... */
    int32_t dy_bytes, x_bytes;                /* ... of so many bytes, of which one copy brings ... */
    int32_t dy_box_bytes, x_box_bytes;        /* ... so many; the rest stays zero */
    int32_t x_pitch;                          /* pixels from one row of x to the next in shared memory */
    int32_t filter[2], stride[2], padding[2], dilation[2];
    int32_t tile_rows, tile_blocks;
    int32_t warpgroup_blocks; /* blocks side by side in one warpgroup's accumulators */
    int32_t stacked;          /* 1: the warpgroups of a tile hold different filters; 0: different blocks */
    int32_t has_tree;         /* 1: no second stage */
};

#define WEIGHT_TILES_ARGS_BYTES 3072

#ifdef __cplusplus
static_assert(sizeof(struct weight_tiles_args) == WEIGHT_TILES_ARGS_BYTES, "kernel and launcher agree on the argument");
#else
_Static_assert(sizeof(struct weight_tiles_args) == WEIGHT_TILES_ARGS_BYTES,
               "kernel and launcher agree on the argument");
#endif

#endif
