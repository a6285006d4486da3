/*
 * What the arguments of kernels that pass over the pixels of planes have in common, and how the pixels are divided
 * among blocks, for kernels and launchers alike. Such an argument has a pixel_map `map`, an int32_t `planes`, and an
 * array `plane` of structs that have nothing but addresses and end with PIXEL_PLANE; beside that, what the kernel needs
 * and no more. Every kernel has an argument of its own; those of batch normalisation and of sums over pixels
 * share pixel_args.
 *
 * A block has 256 threads: `lanes` of them (a power of two, at most 32) lie side by side along the channels, each with
 * one channel or with as many as 16 bytes hold, so that a warp reads neighbouring memory; 256 / lanes pixels are worked
 * on at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_PIXELS_H
#define BRAID_KERNELS_CUDA_TILE_PIXELS_H

#include <stdint.h>

#include "braid.h"

/* How every plane of an argument ends. */
#define PIXEL_PLANE       \
    const uint32_t *mask; \
    int64_t pitch, channels

/* Kernel and launcher agree on an argument. */
#ifdef __cplusplus
#define PIXEL_ARGS_BYTES(name, bytes) static_assert(sizeof(struct name) == bytes, "kernel and launcher agree on " #name)
#else
#define PIXEL_ARGS_BYTES(name, bytes) \
    _Static_assert(sizeof(struct name) == bytes, "kernel and launcher agree on " #name)
#endif

/* A value for every element, in one launch: a block has some pixels of one sample and a tile of their channels. */
struct pixel_map {
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t lanes[BRAID_MAX_PLANES];
    int32_t vector[BRAID_MAX_PLANES]; /* numbers of a pack, of 16 bytes or where a kernel takes them 8; 0: one by one */
    int32_t tiles[BRAID_MAX_PLANES];  /* of channels, a block to each */
    int32_t blocks[BRAID_MAX_PLANES]; /* for each sample: tiles times chunks of its pixels */
    int64_t chunk[BRAID_MAX_PLANES];  /* pixels of a block */
    int64_t batch, sample_pixels;
};

/* Sums over pixels. A launch has, for each plane, tiles of channels (the lanes of a block) times `parts` parts of the
 * pixels; its sums lie in the workspace as [part][all channels of all planes]. The last block of a tile adds its parts;
 * where there are no counters a second launch does, a channel to a lane. */
struct pixel_columns {
    int32_t first_block[BRAID_MAX_PLANES + 1];   /* of the first launch */
    int32_t first_tile[BRAID_MAX_PLANES + 1];    /* the blocks of the second: a tile of channels each */
    int32_t first_channel[BRAID_MAX_PLANES + 1]; /* where a plane starts in one part */
    int32_t lanes[BRAID_MAX_PLANES];
    int32_t second_lanes[BRAID_MAX_PLANES];
    int32_t vector[BRAID_MAX_PLANES];
    int32_t parts;
    int64_t pixels, sample_pixels; /* of all samples, of one */
    int64_t part_pixels;
    void *workspace;
};

#define WINDOW_SUMS 64 /* of a part of a window: a channel, or a pack of them, of every lane */

/* The windows of pooling, [0] along the height and [1] along the width. */
struct pixel_window {
    int32_t size[2], out_size[2];
    int32_t filter[2], stride[2], padding[2], dilation[2];
    int32_t strip; /* rows of windows of a block that slides down them */
};

/* One stream of batch normalisation or of a sum over pixels. What a kernel does not use is NULL. */
struct pixel_plane {
    const void *x, *z, *dy;
    void *y, *dx, *dz; /* y is read where it is an input */
    const float *scale, *shift, *zscale, *zshift, *center, *rstd, *gamma;
    float *dgamma, *dbeta, *mean, *var;
    PIXEL_PLANE;
};

struct pixel_args {
    struct pixel_plane plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    struct pixel_columns columns;
    struct pixel_window window;
    int32_t planes, train;
    int32_t activation;
    uint32_t *counters; /* arrive.cuh: of sums over pixels one for each block; NULL: there are none */
    double eps;
};
PIXEL_ARGS_BYTES(pixel_args, 2056);

#endif
