/*
 * The argument of bn_finalize.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_BN_FINALIZE_H
#define BRAID_KERNELS_CUDA_BN_FINALIZE_H

#include <stdint.h>

#include "braid.h"

#define BN_FINALIZE_THREADS 128

struct bn_finalize_plane {
    const float *mean, *var, *gamma, *beta;
    const uint32_t *mask;
    float *running_mean, *running_var, *scale, *shift, *center, *rstd;
    int64_t channels;
};

struct bn_finalize_args {
    struct bn_finalize_plane plane[BRAID_MAX_PLANES];
    int64_t *batches;
    int64_t batch, sample_pixels;
    int32_t planes, train, cumulative, each;
    float eps, momentum;
};

#define BN_FINALIZE_ARGS_BYTES 912

#ifdef __cplusplus
static_assert(sizeof(struct bn_finalize_args) == BN_FINALIZE_ARGS_BYTES,
              "kernel and launcher agree on bn_finalize_args");
#else
_Static_assert(sizeof(struct bn_finalize_args) == BN_FINALIZE_ARGS_BYTES,
               "kernel and launcher agree on bn_finalize_args");
#endif

#endif
