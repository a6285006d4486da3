/*
 * The data gradient of a convolution into images with few channels. What an output pixel gives to all that the filter
 * saw there is one row of a matrix product: the pixel's dy times the weights as they lie, [channels of the output]
 * [taps and channels of the input]. The row is then added to the image, one filter row after another. Where
 * indirect_gemm.h would make one to fifteen columns of a panel, the panels here are as wide as the filter has values.
 *
 * A part makes some rows of dx from the products that reach them and no others; sums are floats, rounded once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_CONV_COL2IM_H
#define BRAID_KERNELS_CPU_CONV_COL2IM_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/kernel.h"

/* NULL, or why the problem is none for it: 1 to 15 input channels, one group, padding of zeros. */
const char *col2im_supports(const braid_problem *p, const device *d);

/* Readies the data gradient of a conv2d problem. Returns a state for col2im_destroy. */
braid_status col2im_create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes);

/* Pack the weights, and run on the buffers of conv2d. */
braid_status col2im_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status col2im_run(const braid_problem *p, device *d, void *state, const buffers *b);

void col2im_destroy(device *d, void *state);

/* Predicted seconds, at the tile's rate. */
double col2im_cost(const braid_problem *p, const machine *on, const gemm_tile *tile);

#endif
