/*
 * The indirect matrix product behind conv2d and linear, forward and data gradient. The rows are output
 * pixels, the columns output channels, and the sum runs over filter taps and source channels: for every
 * tap a row is a pointer to a source pixel, or to zeros where the tap falls into the padding. So nothing
 * is copied, and filter, stride, dilation and padding are only a matter of which pointers.
 *
 * With stride s the data gradient has s*s classes of pixels, each reached by taps of its own: a class is
 * a product by itself and no tap is wasted.
 *
 * Weights are packed into panels [group][panel of columns][tap][depth][column] before a run. Halves are
 * multiplied as they are where the tile takes bf16; for other tiles the rows of a few taps are made floats
 * on the way. Sums are floats and are rounded once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_INDIRECT_GEMM_H
#define BRAID_KERNELS_CPU_TILE_INDIRECT_GEMM_H

#include "kernels/cpu/tile/epilogue.h"
#include "kernels/cpu/isa/gemm.h"
#include "kernels/kernel.h"

#define INDIRECT_GEMM_TILES_IN_CHUNK 16 /* of pixels */

/* Ready the product of a conv2d or linear problem, or that of its data gradient, for indirect_gemm_destroy. */
braid_status indirect_gemm_create_forward(const braid_problem *p, const gemm_tile *tile, void **state,
                                          size_t *workspace_bytes);
braid_status indirect_gemm_create_backward(const braid_problem *p, const gemm_tile *tile, void **state,
                                           size_t *workspace_bytes);

/* Why it cannot do a data gradient, in words; NULL: it can. Of ops with convolutions. */
const char *indirect_gemm_backward_supports(const braid_problem *p, const device *d);

/* Pack the weights, and run on the buffers of conv2d or linear (their slots are the same). */
braid_status indirect_gemm_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status indirect_gemm_run(const braid_problem *p, device *d, void *state, const buffers *b);

void indirect_gemm_destroy(device *d, void *state);

/* A run with an end of its own; epilogue may be NULL. */
typedef struct indirect_gemm_work {
    const void *state; /* of indirect_gemm_create_* */
    const buffers *b;
    const product_epilogue *epilogue;
} indirect_gemm_work;

void indirect_gemm_run_work(const indirect_gemm_work *w);

/* Predicted seconds: the arithmetic at the tile's rate, and the packing of the weights. */
double indirect_gemm_cost(const braid_problem *p, const machine *on, const gemm_tile *tile);

#endif
