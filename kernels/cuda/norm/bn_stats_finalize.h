/*
 * The argument of bn_stats_finalize: that of bn_stats, and behind it that of bn_finalize.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_BN_STATS_FINALIZE_H
#define BRAID_KERNELS_CUDA_NORM_BN_STATS_FINALIZE_H

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/tile/pixels.h"

struct bn_stats_finalize_args {
    struct pixel_args sums; /* has one counter more than its blocks need: for the tiles that are done */
    struct bn_finalize_args norm;
};
PIXEL_ARGS_BYTES(bn_stats_finalize_args, sizeof(struct pixel_args) + BN_FINALIZE_ARGS_BYTES);

#endif
