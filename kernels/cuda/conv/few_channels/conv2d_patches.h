/*
 * The argument of the tensor-core convolution for few channels on both sides, and its tiles. A warp makes patches of 8
 * x 8 pixels; a block takes tiles of whole patches, one after the other; the part of x that a tile needs lies in shared
 * memory, pixel by pixel. bwd_data is the same kernel: x is dy, y is dx, and the filter is turned.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_PATCHES_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_PATCHES_H

#include <stdint.h>

#include "braid.h"

#define PATCHES_THREADS 160
#define PATCHES_SIZE 8
#define PATCHES_ROWS 7       /* of the filter, at most */
#define PATCHES_SHARED 98304 /* bytes of a block, at most */

struct conv2d_patches_plane {
    void *x, *w, *bias, *y;
    const uint32_t *mask;
    int64_t in_pitch, out_pitch; /* of x and y */
    int32_t in_channels, out_channels;
    int32_t pixel_pitch, row_pitch; /* elements between two pixels and rows of x in shared memory */
    int32_t copy;                   /* where x lies a second time, shifted by one element; 0: nowhere */
    int32_t steps;                  /* of 16 terms in one row of the filter; 0: one of 8 */
};

struct conv2d_patches_args {
    struct conv2d_patches_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, mode;
    int32_t turned; /* bwd_data */
    int32_t size[2], out_size[2], filter[2], padding[2];
    int32_t tile[2];      /* rows and columns of the output in a tile: whole patches */
    int32_t in_tile[2];   /* those of x behind them */
    int32_t tiles[2];     /* of one image */
    int32_t block_tiles;  /* of one block, at most */
    int32_t all_tiles;    /* of a plane */
    int32_t first_weight; /* where the weights begin in shared memory, in bytes ... */
    int32_t first_pair;   /* ... and where the places of the terms do */
};

#define CONV2D_PATCHES_ARGS_BYTES 848

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_patches_args) == CONV2D_PATCHES_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct conv2d_patches_args) == CONV2D_PATCHES_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
