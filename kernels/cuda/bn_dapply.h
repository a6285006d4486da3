/*
 * The argument of bn_dapply.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_DAPPLY_H
#define BRAID_KERNELS_CUDA_BN_DAPPLY_H

#include "kernels/cuda/bn.h"

struct bn_dapply_plane {
    const void *x, *dy;
    const float *center, *rstd, *gamma, *dgamma, *dbeta;
    const uint32_t *mask;
    void *dx;
    int64_t pitch;
    int64_t channels;
};

struct bn_dapply_args {
    struct bn_dapply_plane plane[BRAID_MAX_PLANES];
    struct bn_pixels pixels;
};

#define BN_DAPPLY_ARGS_BYTES 1000

#ifdef __cplusplus
static_assert(sizeof(struct bn_dapply_args) == BN_DAPPLY_ARGS_BYTES, "kernel and launcher agree on bn_dapply_args");
#else
_Static_assert(sizeof(struct bn_dapply_args) == BN_DAPPLY_ARGS_BYTES, "kernel and launcher agree on bn_dapply_args");
#endif

#endif
