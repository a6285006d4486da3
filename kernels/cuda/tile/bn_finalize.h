/*
 * The argument of bn_finalize, and that of kernels that do the same to statistics of their own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_BN_FINALIZE_H
#define BRAID_KERNELS_CUDA_TILE_BN_FINALIZE_H

#include <stdint.h>

#include "braid.h"

#define BN_FINALIZE_THREADS 128

struct bn_finalize_plane {
    const float *gamma, *beta;
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

struct bn_finalize_means {
    struct bn_finalize_args norm;
    const float *mean[BRAID_MAX_PLANES], *var[BRAID_MAX_PLANES];
};

#define BN_FINALIZE_ARGS_BYTES 768
#define BN_FINALIZE_MEANS_BYTES (BN_FINALIZE_ARGS_BYTES + 144)

#ifdef __cplusplus
static_assert(sizeof(struct bn_finalize_args) == BN_FINALIZE_ARGS_BYTES,
              "kernel and launcher agree on bn_finalize_args");
static_assert(sizeof(struct bn_finalize_means) == BN_FINALIZE_MEANS_BYTES,
              "kernel and launcher agree on bn_finalize_means");
#else
_Static_assert(sizeof(struct bn_finalize_args) == BN_FINALIZE_ARGS_BYTES,
               "kernel and launcher agree on bn_finalize_args");
_Static_assert(sizeof(struct bn_finalize_means) == BN_FINALIZE_MEANS_BYTES,
               "kernel and launcher agree on bn_finalize_means");
#endif

#endif
