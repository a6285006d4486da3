/*
 * The argument of bn_sums.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_SUMS_H
#define BRAID_KERNELS_CUDA_BN_SUMS_H

#include "kernels/cuda/bn.h"

/* Sums of dy and of dy * (x - center). */
struct bn_gradients {
    float shift, scale;
};

struct bn_sums_plane {
    const void *x, *dy;
    const float *center, *rstd;
    const uint32_t *mask;
    float *dgamma, *dbeta;
    int64_t pitch;
    int64_t channels;
};

struct bn_sums_args {
    struct bn_sums_plane plane[BRAID_MAX_PLANES];
    struct bn_columns columns;
    struct bn_gradients *workspace;
};

#define BN_SUMS_ARGS_BYTES 848

#ifdef __cplusplus
static_assert(sizeof(struct bn_sums_args) == BN_SUMS_ARGS_BYTES, "kernel and launcher agree on bn_sums_args");
#else
_Static_assert(sizeof(struct bn_sums_args) == BN_SUMS_ARGS_BYTES, "kernel and launcher agree on bn_sums_args");
#endif

#endif
