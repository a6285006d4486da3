/*
 * The argument of weight_sum, the second stage of weight gradients: the parts that the first stage
 * left in the workspace are added in order and written as dw and dbias.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_WEIGHT_SUM_H
#define BRAID_KERNELS_CUDA_WEIGHT_SUM_H

#include <stdint.h>

#include "braid.h"

struct weight_sum_plane {
    void *w;          /* [filters][length] */
    void *bias;       /* [filters]; NULL: none, and then no column for it */
    int64_t partial;  /* where this plane starts in one part */
    int64_t elements; /* of one part of this plane: [filters][length, and 1 for the bias] */
    int64_t columns;  /* of that */
};

struct weight_sum_args {
    struct weight_sum_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, parts;
    int32_t slices;         /* of the parts, which threads of a block add side by side: a power of 2 */
    const float *workspace; /* [part][part_elements] */
    int64_t part_elements;
};

#define WEIGHT_SUM_ARGS_BYTES 432

#ifdef __cplusplus
static_assert(sizeof(struct weight_sum_args) == WEIGHT_SUM_ARGS_BYTES, "kernel and launcher agree on weight_sum_args");
#else
_Static_assert(sizeof(struct weight_sum_args) == WEIGHT_SUM_ARGS_BYTES, "kernel and launcher agree on weight_sum_args");
#endif

#endif
