/*
 * The argument of conv2d_prepare for few input channels on Hopper's matrix units (conv2d_fwd_rows_sm90a.cu).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_PREPARE_ROWS_H
#define BRAID_KERNELS_CUDA_CONV2D_PREPARE_ROWS_H

#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/conv2d_rows.h"

struct conv2d_prepare_rows_args {
    struct conv2d_rows_args rows;
    struct bn_finalize_args norm;
    uint32_t *counters[BRAID_MAX_PLANES]; /* of a plane: ROW_PARTS_COUNTERS(parts) for every 64 filters */
    int32_t parts[BRAID_MAX_PLANES];      /* of a plane: two of a block */
    uint32_t *finished;                   /* the counter of those that do what bn_finalize does, ... */
    int64_t finishers;                    /* ... one warpgroup for every 64 filters */
};

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_prepare_rows_args) <= 4096, "the argument fits in a launch");
#else
_Static_assert(sizeof(struct conv2d_prepare_rows_args) <= 4096, "the argument fits in a launch");
#endif

#endif
