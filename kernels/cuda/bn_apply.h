/*
 * The argument of bn_apply.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_APPLY_H
#define BRAID_KERNELS_CUDA_BN_APPLY_H

#include "kernels/cuda/bn.h"

struct bn_apply_plane {
    const void *x;
    const float *scale, *shift;
    const uint32_t *mask;
    void *y;
    int64_t pitch;
    int64_t channels;
};

struct bn_apply_args {
    struct bn_apply_plane plane[BRAID_MAX_PLANES];
    struct bn_pixels pixels;
};

#define BN_APPLY_ARGS_BYTES 712

#ifdef __cplusplus
static_assert(sizeof(struct bn_apply_args) == BN_APPLY_ARGS_BYTES, "kernel and launcher agree on bn_apply_args");
#else
_Static_assert(sizeof(struct bn_apply_args) == BN_APPLY_ARGS_BYTES, "kernel and launcher agree on bn_apply_args");
#endif

#endif
