/*
 * The weight gradient of conv2d by the transposed sum of winograd.h: 16 products of transformed gradients and
 * transformed patches, summed over tiles of 2x2 outputs. dbias is that of outer_product.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_CONV_WINOGRAD_WEIGHT_H
#define BRAID_KERNELS_CPU_CONV_WINOGRAD_WEIGHT_H

#include "kernels/cpu/conv/winograd.h"

/* NULL, or why the problem is none for it: that of winograd_supports_forward, or a tap that reads padding alone and
 * whose gradient must be zero to the last bit. */
const char *winograd_weight_supports(const braid_problem *p, const device *d);

/* Readies the weight gradient. Returns a state for winograd_weight_destroy. */
braid_status winograd_weight_create(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes);

braid_status winograd_weight_launch(const braid_problem *p, device *d, void *state, const buffers *b);

void winograd_weight_destroy(device *d, void *state);

/* Predicted seconds: the products at the tile's rate, and the transforms. */
double winograd_weight_cost(const braid_problem *p, const machine *on, const winograd_tile *tile);

#endif
