/*
 * The argument of the integrate kernels that multiply panels (tile/panel.cuh). Slots are those of the op: in bwd_data x
 * is dz or dr_i and y is dy; in bwd_weight weights are dw and dv_i (which may be written by weight_sum).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_PANELS_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_PANELS_H

#include <stdint.h>

#include "braid.h"
#include "kernels/cuda/tile/panel.h"

#define INTEGRATE_THREADS 256
#define INTEGRATE_ROWS 128 /* pixels of a tile, in fwd and bwd_data */

/* The integrated pathway, where there is one, or a stream. */
struct integrate_panels_source {
    void *x, *weights;
    const void *add; /* bwd_data: what is added to its gradient, laid out like it; NULL: nothing */
    const uint32_t *mask;
    int64_t pitch;
    int64_t partial; /* bwd_weight: where it starts in one part of the workspace */
    int32_t channels;
    int32_t is_pathway;   /* 1: its pixels are those of z, found by the stride */
    int32_t first_column; /* bwd_data: its first tile of columns; bwd_weight: its first panel of columns */
    int32_t lanes;        /* bwd_data: channels that are written, the zeros up to the pitch included */
};

struct integrate_panels_args {
    struct integrate_panels_source source[BRAID_MAX_PLANES];
    void *y;
    const void *bias;
    float *workspace;      /* bwd_weight: [part][source][output][channel]; of a tree [tile][join][branch][sums] */
    int64_t part_elements; /* of one part */
    int32_t sources, outputs, pixels, out_size[2], size[2], stride[2];
    int32_t needs_places; /* 1: a pixel's sample or its place in z matters */
    int32_t steps;        /* of a tile: panels that its sum runs over */
    int32_t columns;      /* tiles of columns (bwd_data: of all sources; bwd_weight: of the panels of all sources) */
    int32_t tiles;        /* of one column where the weights stay in shared memory, else of all */
    int32_t stays;        /* 1: all weights stay in shared memory, from the first tile of a block to the last */
    int32_t parts, part_pixels;
    int32_t row_tiles; /* bwd_weight: tiles of outputs */
};

#define INTEGRATE_PANELS_ARGS_BYTES 680

#ifdef __cplusplus
static_assert(sizeof(struct integrate_panels_args) == INTEGRATE_PANELS_ARGS_BYTES, "kernel and launcher agree");
#else
_Static_assert(sizeof(struct integrate_panels_args) == INTEGRATE_PANELS_ARGS_BYTES, "kernel and launcher agree");
#endif

#endif
