/*
 * The argument of bn_norm, and its shared memory. A unit of work is a part of the pixels of a tile of channels of a
 * plane: a block of pixel_columns. Blocks take units by a counter until there are none; who has summed up the last
 * pixels of a unit still has them in its ring.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_NORM_H
#define BRAID_KERNELS_CUDA_BN_NORM_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/pixels.h"
#include "kernels/cuda/tile/shape.h"

#define BN_NORM_STAGES 51   /* of the ring: packs of 16 bytes that a thread keeps */
#define BN_NORM_CHANNELS 64 /* most of a tile */
#define BN_NORM_SUMS_BYTES 18816

struct bn_norm_shared {
    uint32_t ring[BN_NORM_STAGES * BLOCK_THREADS][4];
    uint32_t sums[BN_NORM_SUMS_BYTES / 4];
    float scale[2][BN_NORM_CHANNELS], shift[2][BN_NORM_CHANNELS]; /* of x and of its residual */
    uint32_t unit;                                                /* that the first thread has taken */
};

struct bn_norm_args {
    struct pixel_args sums; /* its counters: the parts of a tile that are there, at the tile's first unit */
    struct bn_finalize_args norm;
    int64_t *batches[2]; /* with residuals of its own the first of the first half of the planes, else of all */
    int32_t *before;     /* of each unit: that which its block had before, -1: none */
    uint32_t *taken;     /* a counter: the next unit ... */
    uint32_t *left;      /* ... blocks that have ended ... */
    uint32_t *counted;   /* ... and of each half the tiles that have read the count of batches */
    int32_t units, skip; /* planes that have statistics alone: the first ones ... */
    int32_t own;         /* ... 1: which are the residuals of the others */
};

#endif
