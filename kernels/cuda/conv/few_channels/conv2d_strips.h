/*
 * The argument of the convolution kernels for few channels on both sides, and their tiles. A thread of fwd makes a
 * strip: STRIPS_PIXELS neighbours of one column, some output channels each. A block takes tiles of the output, one
 * after the other; the part of x that a tile needs lies in shared memory as floats, channel by channel. bwd_data is the
 * same kernel: x is dy, y is dx, and the filter is turned. In bwd_weight w and bias are dw and dbias, and y is dy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_STRIPS_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_STRIPS_H

#include <stdint.h>

#include "braid.h"

#define STRIPS_THREADS 256 /* at most */
#define STRIPS_PIXELS 8
#define STRIPS_ROWS 7       /* of the filter: those that fwd takes at a time where it can, and the most of bwd_weight */
#define STRIPS_SHARED 98304 /* bytes of a block, at most */

struct conv2d_strips_plane {
    void *x, *w, *bias, *y;
    const uint32_t *mask;
    int64_t in_pitch, out_pitch; /* of x and y */
    int64_t partial;             /* bwd_weight: where this plane starts in one part of the workspace */
    int32_t in_channels, out_channels;
    int32_t channel_pitch; /* floats between two channels of x in shared memory */
    int32_t groups;        /* of output channels, one of them for a thread */
};

struct conv2d_strips_args {
    struct conv2d_strips_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, mode;
    int32_t turned; /* bwd_data */
    int32_t size[2], out_size[2], filter[2], stride[2], padding[2], dilation[2];
    int32_t tile[2];     /* rows and columns of the output in a tile; of fwd whole strips */
    int32_t in_tile[2];  /* those of x behind them */
    int32_t row_pitch;   /* floats between two rows of x in shared memory */
    int32_t tiles[2];    /* of one image */
    int32_t block_tiles; /* of one block, at most */
    int32_t all_tiles;   /* of a plane */
    int32_t slices;      /* bwd_weight: of the columns of a tile, which threads add side by side */
    int32_t first_y;     /* bwd_weight: where dy begins in shared memory, in floats; fwd: where the weights do */
    int32_t parts, threads;
    float *workspace; /* bwd_weight: [part][plane][k][r, s, c] */
    int64_t part_elements;
};

#define CONV2D_STRIPS_ARGS_BYTES 888

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_strips_args) == CONV2D_STRIPS_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct conv2d_strips_args) == CONV2D_STRIPS_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
