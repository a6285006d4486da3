/*
 * The argument of integrate_bn_stats on sm_90: that of integrate, and that of bn_finalize for the streams and for y.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_BN_STATS_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_BN_STATS_H

#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/integrate/integrate_tma.h"
#include "kernels/cuda/integrate/moments_join.h"

struct integrate_bn_stats_args {
    struct integrate_tma_args mix;
    struct bn_finalize_args norm;
    struct moments_parts parts;
};

#define INTEGRATE_BN_STATS_ARGS_BYTES 4032

#ifdef __cplusplus
static_assert(sizeof(struct integrate_bn_stats_args) == INTEGRATE_BN_STATS_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct integrate_bn_stats_args) == INTEGRATE_BN_STATS_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
