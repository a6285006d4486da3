/*
 * The argument of the integrate kernels of sm_90: that of the kernels on panels, and the tensor maps of all operands.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_TMA_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_TMA_H

#include "backend/cuda/tensor_map.h"
#include "kernels/cuda/integrate/integrate_panels.h"
#include "kernels/cuda/tile/sums.h"

#define INTEGRATE_TMA_THREADS 288      /* two groups that multiply, and a warp that asks for the copies */
#define INTEGRATE_BN_STATS_THREADS 416 /* and four warps that take statistics */

struct integrate_tma_args {
    cuda_tensor_map x[BRAID_MAX_PLANES];       /* of the sources: 64 channels of a tile's or a step's pixels */
    cuda_tensor_map weights[BRAID_MAX_PLANES]; /* 64 channels of a tile's (fwd) or of 64 (bwd_data) outputs */
    cuda_tensor_map y;                         /* 64 outputs of a tile's or a step's pixels */
    struct integrate_panels_args all;
    int32_t stages;     /* in shared memory: behind the barriers and the weights that stay */
    int32_t is_strided; /* 1: the map of the integrated pathway is an im2col map */
    uint32_t *counters; /* bwd_weight, of a tree: [tile][join][group] */
    /* integrate_bn_stats: */
    int32_t squares_at, sums_at; /* in shared memory: staged results, and sums of panels */
    int32_t stream_panels, stream_channels;
};

#define INTEGRATE_TMA_ARGS_BYTES 3200
#define INTEGRATE_TMA_BARRIER_BYTES 1024 /* in front of the panels */
#define INTEGRATE_TMA_MEETING_AT 1016    /* bwd_weight: in those, a word for each group that multiplies */

#ifdef __cplusplus
static_assert(sizeof(struct integrate_tma_args) == INTEGRATE_TMA_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct integrate_tma_args) == INTEGRATE_TMA_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
