/*
 * How the pixels of normalisation are divided among blocks, for kernels and launchers alike.
 *
 * A block has 256 threads: `lanes` channels side by side (a power of two, at most 32, so that a warp
 * reads neighbouring memory) times 256 / lanes pixels at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_H
#define BRAID_KERNELS_CUDA_BN_H

#include <stdint.h>

#include "braid.h"

/* Sums over pixels, in two launches. The first has, for each plane, tiles of `lanes` channels times `parts` parts of
 * the pixels; its sums lie in the workspace as [part][all channels of all planes]. The second adds the parts. */
struct bn_columns {
    int32_t first_block[BRAID_MAX_PLANES + 1];   /* of the first launch */
    int32_t first_tile[BRAID_MAX_PLANES + 1];    /* the blocks of the second: a tile of channels each */
    int32_t first_channel[BRAID_MAX_PLANES + 1]; /* where a plane starts in one part */
    int32_t lanes[BRAID_MAX_PLANES];
    int32_t planes, parts;
    int64_t pixels, sample_pixels; /* of all samples, of one */
    int64_t part_pixels;
};

/* A value for every element, in one launch: a block has some pixels of one sample. */
struct bn_pixels {
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t lanes[BRAID_MAX_PLANES];
    int32_t blocks[BRAID_MAX_PLANES]; /* for each sample */
    int64_t chunk[BRAID_MAX_PLANES];  /* pixels of a block */
    int64_t batch, sample_pixels;
    int32_t planes, train;
};

#endif
