/*
 * The argument of bn_bwd: its planes, and in which order its blocks do their work. An item of work is a block of the
 * sums (pixel_columns) or of the data pass (pixel_map) of a plane. Blocks take items in their order; those of a data
 * pass wait for the sums of their plane, which are all before them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_BN_BWD_H
#define BRAID_KERNELS_CUDA_NORM_BN_BWD_H

#include "kernels/cuda/tile/pixels.h"

#define BN_BWD_BLOCKS 3     /* on a multiprocessor, ... */
#define BN_BWD_ACT_BLOCKS 2 /* ... with an activation of x * scale + shift, which takes more registers */

/* Items side by side: those of one pass of a plane, or some of them. */
struct bn_bwd_run {
    uint32_t item;  /* the first */
    uint32_t first; /* among those of the pass */
    int32_t plane, is_data;
};

#define BN_BWD_MOST_RUNS (5 * BRAID_MAX_PLANES)

struct bn_bwd_args {
    struct pixel_args pixels; /* its counters are those of the sums */
    struct bn_bwd_run run[BN_BWD_MOST_RUNS];
    int32_t runs;
    uint32_t items;
    uint32_t known;    /* bits of planes whose sums are given */
    uint32_t *taken;   /* a counter: the next item ... */
    uint32_t *left;    /* ... blocks that have ended ... */
    uint32_t *written; /* ... and of each plane its tiles of channels whose sums are written */
};

#endif
