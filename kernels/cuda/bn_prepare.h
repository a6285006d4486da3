/*
 * The argument of bn_prepare: that of bn_stats, and behind it that of bn_finalize.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_PREPARE_H
#define BRAID_KERNELS_CUDA_BN_PREPARE_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/pixels.h"

struct bn_prepare_args {
    struct pixel_args sums; /* has one counter more than its blocks need: for the tiles that are done */
    struct bn_finalize_args norm;
};

#define BN_PREPARE_ARGS_BYTES (PIXEL_ARGS_BYTES + BN_FINALIZE_ARGS_BYTES)

#ifdef __cplusplus
static_assert(sizeof(struct bn_prepare_args) == BN_PREPARE_ARGS_BYTES, "kernel and launcher agree on bn_prepare_args");
#else
_Static_assert(sizeof(struct bn_prepare_args) == BN_PREPARE_ARGS_BYTES, "kernel and launcher agree on bn_prepare_args");
#endif

#endif
