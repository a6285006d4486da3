/*
 * The argument of the three convolution kernels. Slots are those of the op: in bwd_data x is dx, in
 * bwd_weight w is dw (written by weight_sum from the workspace, as the gradient of the bias is), and
 * y is dy in both.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_CONV2D_H
#define BRAID_KERNELS_CUDA_CONV_CONV2D_H

#include <stdint.h>

#include "braid.h"
#include "kernels/cuda/tile/epilogue.h"

struct conv2d_plane {
    void *x, *w, *y;
    struct epilogue epilogue; /* of fwd and bwd_data */
    const uint32_t *mask;
    int64_t in_pitch, out_pitch;
    int64_t partial;                   /* bwd_weight: where this plane starts in one part of the workspace */
    int32_t in_channels, out_channels; /* of all groups */
};

struct conv2d_args {
    struct conv2d_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, groups, mode;
    int32_t size[2], out_size[2], filter[2], stride[2], padding[2], dilation[2];
    int32_t after[2]; /* padding behind the last pixel */
    int32_t slots[2]; /* bwd_data: places that can read one pixel */
    int64_t batch;
    float *workspace;      /* bwd_weight: [part][plane][k][r, s, c and then the bias] */
    int64_t part_elements; /* of one part */
    int32_t parts;         /* the output pixels are cut into so many parts ... */
    int32_t bias;          /* 1: there is a bias column */
    int64_t part_pixels;   /* ... of so many, a multiple of TILE_K */
};

#define CONV2D_ARGS_BYTES 1096

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_args) == CONV2D_ARGS_BYTES, "kernel and launcher agree on conv2d_args");
#else
_Static_assert(sizeof(struct conv2d_args) == CONV2D_ARGS_BYTES, "kernel and launcher agree on conv2d_args");
#endif

#endif
