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
#ifndef BRAID_KERNELS_CPU_TILE_WGRAD_H
#define BRAID_KERNELS_CPU_TILE_WGRAD_H

#include "kernels/cpu/tile/gemm.h"
#include "kernels/kernel.h"

/* Readies the weight gradient of a conv2d or linear problem. Returns a state for wgrad_destroy. */
braid_status wgrad_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes);

/* Runs it on the buffers of conv2d or linear (their slots are the same). */
braid_status wgrad_launch(const braid_problem *p, device *d, void *state, const buffers *b);

void wgrad_destroy(device *d, void *state);

/* The weight gradient of a convolution without input channels: what is left is dbias. */
braid_problem wgrad_bias_problem(const braid_problem *conv);

/* Predicted seconds, at the tile's rate. */
double wgrad_cost(const braid_problem *p, const gemm_tile *tile);

#endif
