/*
 * The argument of the linear layers on small and skinny matrices (linear_*_skinny.cu): the product of a left and a
 * right operand over some terms.
 *
 *     pass         left           right       out           terms
 *     fwd          x [b][c]       w [k][c]    y [b][k]      channels
 *     bwd_data     dy [b][k]      w [k][c]    dx [b][c]     filters
 *     bwd_weight   dy [b][k]      x [b][c]    dw [k][c]     samples
 *
 * In the gradients of linear_act the left operand is dy by the slope at u.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LINEAR_LINEAR_SKINNY_H
#define BRAID_KERNELS_CUDA_LINEAR_LINEAR_SKINNY_H

#include <stdint.h>

#include "braid.h"

struct skinny_plane {
    const void *left, *right;
    const void *slope; /* u, or y of a ReLU, laid as left is; NULL: the left operand is taken as it is */
    void *out;
    void *kept; /* fwd: u, laid as out is; NULL: it is not kept */
    void *bias; /* fwd: added; bwd_weight: made; NULL: none */
    const uint32_t *mask;
    int64_t left_pitch, right_pitch, out_pitch;
    int64_t partial; /* bwd_weight: where this plane starts in one part of the workspace */
    int32_t rows, columns, terms;
    int32_t lanes;        /* columns that are written, zeros from `columns` on */
    int32_t column_tiles; /* tiles side by side */
    /* 1: may be moved 16 bytes at a time. */
    int32_t left_aligned, right_aligned, out_aligned;
};

struct skinny_args {
    struct skinny_plane plane[BRAID_MAX_PLANES];
    int32_t first_block[BRAID_MAX_PLANES + 1];
    int32_t planes, activation;
    int32_t parts;         /* bwd_weight: the terms are cut into so many parts, side by side in the blocks ... */
    int32_t part_terms;    /* ... of so many terms */
    float *workspace;      /* [part][plane][row][columns, and 1 for the bias]; not used by one part alone */
    int64_t part_elements; /* of one part */
};

#define SKINNY_ARGS_BYTES 1152

#ifdef __cplusplus
static_assert(sizeof(struct skinny_args) == SKINNY_ARGS_BYTES, "kernel and launcher agree on skinny_args");
#else
_Static_assert(sizeof(struct skinny_args) == SKINNY_ARGS_BYTES, "kernel and launcher agree on skinny_args");
#endif

#endif
