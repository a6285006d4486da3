/*
 * The argument of bn_join, the second stage of statistics that come out of another kernel: that of bn_finalize, and the
 * parts that its blocks left.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_JOIN_H
#define BRAID_KERNELS_CUDA_BN_JOIN_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/sums.h"

#define BN_JOIN_THREADS 512
#define BN_JOIN_LANES 4 /* channels of a block, side by side */

struct bn_join_args {
    struct bn_finalize_args norm;
    const struct bn_moments *moments; /* [part][pitch]: the channels of all planes, one after the other */
    uint32_t *counter;
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t first_channel[BRAID_MAX_PLANES];
    int32_t parts[BRAID_MAX_PLANES];
    int32_t pitch, unused;
};

#define BN_JOIN_ARGS_BYTES (BN_FINALIZE_ARGS_BYTES + 136)

#ifdef __cplusplus
static_assert(sizeof(struct bn_join_args) == BN_JOIN_ARGS_BYTES, "kernel and launcher agree on bn_join_args");
#else
_Static_assert(sizeof(struct bn_join_args) == BN_JOIN_ARGS_BYTES, "kernel and launcher agree on bn_join_args");
#endif

#endif
