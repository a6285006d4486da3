/*
 * Which source pixel a filter tap reads for each output pixel, as two small tables, one per axis. All
 * padding modes, strides and dilations are in the tables; the loops that use them know none of it.
 *
 * A linear layer is the convolution of one pixel by one tap, and is described as such.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_TAPS_H
#define BRAID_KERNELS_CPU_TILE_TAPS_H

#include "ops/op.h"

typedef struct taps {
    int64_t filter[2], in_size[2], out_size[2];
    int32_t *source[2]; /* [out][tap]: the coordinate in the source, or -1: a zero */
    uint8_t *dense;     /* [out column]: 1 where its taps read neighbours, one after another, and no zero */
} taps;

/* A linear problem as a convolution of batch x 1 x 1 pixels; a convolution as it is. */
braid_problem taps_problem(const braid_problem *p);

/* For the forward pass and the weight gradient: from an output pixel and a tap to the input pixel. */
braid_status taps_create_forward(taps *t, const braid_problem *p);

/* For the data gradient, where "out" is the input: from an input pixel and a tap to the output pixel that
 * used them. Zero padding only. */
braid_status taps_create_backward(taps *t, const braid_problem *p);

void taps_destroy(taps *t);

#endif
