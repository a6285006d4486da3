/*
 * Winograd's convolution F(2x2, 3x3): a tile of 2x2 outputs of a 3x3 filter at stride 1 from 16 products
 * instead of 36. For a 4x4 patch d of the source and a filter g, per channel,
 *
 *   y = A^T [ (G g G^T) . (B^T d B) ] A        with "." by elements, summed over the channels before A is applied
 *
 *   B^T = 1  0 -1  0     G = 1    0    0       A^T = 1  1  1  0
 *         0  1  1  0         1/2  1/2  1/2           0  1 -1 -1
 *         0 -1  1  0         1/2 -1/2  1/2
 *         0  1  0 -1         0    0    1
 *
 * so that the sum over channels is 16 matrix products, one for each place of the 4x4 patch: rows are tiles,
 * columns output channels. The data gradient is the same with the filter turned round. The weight gradient is the
 * transposed sum,
 *
 *   dg = G^T [ (A dy A^T) . (B^T d B) ] G      summed over the tiles before G is applied
 *
 * so that rows are output channels, columns input channels, and the sum runs over tiles.
 *
 * A tile mixes its pixels, so the error of an output follows the magnitudes of the whole patch (the flag
 * KERNEL_WINOGRAD; kernels/ref/conv2d_tile.c), and an infinity makes NaN of its neighbours. Small integers
 * stay exact: the halves of G give quarters at most.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_CONV_WINOGRAD_H
#define BRAID_KERNELS_CPU_CONV_WINOGRAD_H

#include "kernels/cpu/isa/winograd.h"
#include "kernels/cpu/tile/epilogue.h"
#include "kernels/cpu/tile/taps.h"
#include "kernels/kernel.h"

/* NULL, or why the problem is none for it: 3x3 at stride 1 without dilation and groups. */
const char *winograd_supports_forward(const braid_problem *p, const device *d);
const char *winograd_supports_backward(const braid_problem *p, const device *d); /* and zero padding only */

/* The source coordinate of line i of 4 of the patch of the tile at output `at` of one axis; -1: zeros. `forward`: of
 * taps_create_forward, else of taps_create_backward. */
int64_t winograd_patch_line(const taps *map, int forward, int axis, int64_t at, int i);

/* Ready the forward pass or the data gradient. Return a state for winograd_destroy. */
braid_status winograd_create_forward(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes);
braid_status winograd_create_backward(const braid_problem *p, const winograd_tile *tile, void **state, size_t *bytes);

/* Transform the weights, and run on the buffers of conv2d. */
braid_status winograd_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status winograd_run(const braid_problem *p, device *d, void *state, const buffers *b);

/* The run with an end of its own. */
void winograd_run_epilogue(const void *state, const buffers *b, const product_epilogue *epilogue);

void winograd_destroy(device *d, void *state);

/* Predicted seconds: the products at the tile's rate, and the transforms. */
double winograd_cost(const braid_problem *p, const machine *on, const winograd_tile *tile);

#endif
