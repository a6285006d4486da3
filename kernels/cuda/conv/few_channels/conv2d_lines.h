/*
 * The argument of the two convolution kernels for few input channels (the first layer of a network), and the sizes
 * of their tiles. A block takes tiles of the output, one after the other; the part of x that a tile needs lies in
 * shared memory line by line. Two neighbours of a line are a pair, one word; where a tile begins at an odd element, the
 * first pair of each row of the filter has one term. Slots are those of the op: in bwd_weight w is dw and y is dy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_LINES_H
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_CONV2D_LINES_H

#include <stdint.h>

#include "braid.h"
#include "kernels/cuda/tile/epilogue.h"

#define LINES_THREADS 256
#define LINES_MOST_CHANNELS 4    /* of the input, each stream */
#define LINES_MOST_TERMS 208     /* of one sum, padding included: 13 steps of the tensor cores */
#define LINES_MOST_ELEMENTS 9216 /* of x in shared memory */
#define LINES_WEIGHT_PIXELS 128  /* of a tile of bwd_weight */
#define LINES_WEIGHT_ELEMENTS 7168
#define LINES_FWD_PIXELS 512      /* of a tile of fwd, at most */
#define LINES_FWD_SHARED 87360    /* bytes of a block of fwd ... */
#define LINES_WEIGHT_SHARED 61696 /* ... and of bwd_weight */

#ifdef __cplusplus
#define LINES_BOTH static __device__ __forceinline__
#else
#define LINES_BOTH static inline
#endif

/* A number for lines_divide: ceil(2^32 / by), 0 for 1. */
LINES_BOTH uint32_t lines_inverse(int32_t by) { return by == 1 ? 0 : 0xFFFFFFFFu / (uint32_t)by + 1; }

struct conv2d_lines_plane {
    void *x, *w, *y;
    struct epilogue epilogue; /* of fwd */
    const uint32_t *mask;
    int64_t in_pitch, out_pitch;
    int64_t partial; /* bwd_weight: where this plane starts in one part of the workspace */
    int32_t in_channels, out_channels;
    int32_t row_pitch;  /* elements between two lines of x in shared memory */
    int32_t lane_pitch; /* bwd_weight: elements between two of the (column % stride, channel) of a tile */
    int32_t copy;       /* where x lies a second time, shifted by one element; 0: nowhere */
    int32_t steps;      /* fwd: of 16 terms; bwd_weight: of 16 rows */
    int32_t raw;        /* x lies in shared memory as in global memory, from a multiple of 16 bytes on ... */
    int32_t shift;      /* ... and the first element of a tile so many behind it */
    uint32_t channels_inverse, pieces_inverse; /* of in_channels and of the 16 bytes of a line: see lines_divide */
};

struct conv2d_lines_args {
    struct conv2d_lines_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, mode, bias;
    int32_t size[2], out_size[2], filter[2], stride[2], padding[2], dilation; /* of the rows */
    int32_t tile[2];                          /* rows and columns of the output in a tile */
    int32_t in_tile[2];                       /* those of x behind them */
    int32_t tiles[2];                         /* of one image */
    int32_t block_tiles;                      /* of one block, at most */
    int32_t all_tiles;                        /* of a plane */
    uint32_t columns_inverse, stride_inverse; /* of tile[1] and stride[1] */
    int32_t parts;                            /* bwd_weight: blocks that share the sum of one output */
    float *workspace;                         /* bwd_weight: [part][plane][k][r, s, c and then the bias] */
    int64_t part_elements;
};

#define CONV2D_LINES_ARGS_BYTES 1384

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_lines_args) == CONV2D_LINES_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct conv2d_lines_args) == CONV2D_LINES_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
