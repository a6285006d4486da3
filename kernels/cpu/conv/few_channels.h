/*
 * The convolution of images with few channels: the first layer of a network. An output row is made from
 * copies of the input rows that it reads, with the padding around them, so that nothing has an edge and
 * neighbouring output pixels are a constant distance apart. What a filter row sees lies side by side: its
 * taps and channels are one short sum, read where it lies.
 *
 * Forward: pixels times weights, packed [tap and channel][output channel]. Weight gradient: the same values
 * times dy, which is read where it lies too, summed along the rows; the rows are cut into splits that
 * depend on the problem alone, whose sums are added in order.
 *
 * Planes are f32, or bf16 or f16: copies of those are floats, sums are, and each result is rounded once. A tile
 * that multiplies bf16 takes copies of bf16 as they are; it makes the forward pass only. One that multiplies whole
 * pairs takes copies with an even number of channels, the last one zero, and a filter row at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_CONV_FEW_CHANNELS_H
#define BRAID_KERNELS_CPU_CONV_FEW_CHANNELS_H

#include "kernels/cpu/isa/few_channels.h"
#include "kernels/kernel.h"

/* NULL, or why the problem is none for it: 1 to 4 input channels, one group. */
const char *few_channels_supports(const braid_problem *p, const device *d);

/* The same for few_channels_amx_bf16, whose filter rows must fit a tile register. */
const char *few_channels_amx_supports(const braid_problem *p, const device *d);

/* Ready the forward pass or the weight gradient. Return a state for few_channels_destroy. */
braid_status few_channels_create(const braid_problem *p, const few_channels_tile *tile, void **state,
                                 size_t *workspace_bytes);

/* Run them on the buffers of conv2d; the forward pass when the weights are packed. */
braid_status few_channels_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status few_channels_run_forward(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status few_channels_launch_weight(const braid_problem *p, device *d, void *state, const buffers *b);

void few_channels_destroy(device *d, void *state);

/* Predicted seconds, at the tile's rate. */
double few_channels_cost(const braid_problem *p, const machine *on, const few_channels_tile *tile);

#endif
