/*
 * The weight gradient of conv2d and linear as a sum of outer products: for every output pixel, the
 * column of dy (channels of the output) times the row of source values that the filter saw there (taps
 * times channels of the input, in the order of the weights). The rows of a few pixels are gathered into
 * a small panel, by the tables of taps.h, so all padding modes take the same path.
 *
 * The sum over pixels is cut into a number of splits that depends on the problem alone; their partial
 * sums are added in order. dbias is the sum of the columns of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_OUTER_PRODUCT_H
#define BRAID_KERNELS_CPU_TILE_OUTER_PRODUCT_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/kernel.h"

/* Readies the weight gradient of a conv2d or linear problem. Returns a state for outer_product_destroy. */
braid_status outer_product_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes);

/* Runs it on the buffers of conv2d or linear (their slots are the same). */
braid_status outer_product_launch(const braid_problem *p, device *d, void *state, const buffers *b);

void outer_product_destroy(device *d, void *state);

/* The weight gradient of a convolution without input channels: what is left is dbias. */
braid_problem outer_product_bias_problem(const braid_problem *conv);

/* Predicted seconds, at the tile's rate. */
double outer_product_cost(const braid_problem *p, const machine *on, const gemm_tile *tile);

#endif
