/*
 * The argument of bn_stats.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_STATS_H
#define BRAID_KERNELS_CUDA_BN_STATS_H

#include "kernels/cuda/bn.h"

/* Count, mean and sum of the squared distances from that mean: pieces of any size add up without losing digits. */
struct bn_moments {
    float count, mean, square;
};

struct bn_stats_plane {
    const void *x;
    const uint32_t *mask;
    float *mean, *var;
    int64_t pitch;
    int64_t channels;
};

struct bn_stats_args {
    struct bn_stats_plane plane[BRAID_MAX_PLANES];
    struct bn_columns columns;
    struct bn_moments *workspace;
};

#define BN_STATS_ARGS_BYTES 632

#ifdef __cplusplus
static_assert(sizeof(struct bn_stats_args) == BN_STATS_ARGS_BYTES, "kernel and launcher agree on bn_stats_args");
#else
_Static_assert(sizeof(struct bn_stats_args) == BN_STATS_ARGS_BYTES, "kernel and launcher agree on bn_stats_args");
#endif

#endif
