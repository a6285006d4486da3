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
#ifndef BRAID_KERNELS_CPU_TILE_IGEMM_H
#define BRAID_KERNELS_CPU_TILE_IGEMM_H

#include "kernels/cpu/tile/finish.h"
#include "kernels/cpu/tile/gemm.h"
#include "kernels/kernel.h"

#define IGEMM_TILES_IN_CHUNK 16 /* of pixels */

/* Ready the product of a conv2d or linear problem, or that of its data gradient. Return a state for igemm_destroy. */
braid_status igemm_create_forward(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes);
braid_status igemm_create_backward(const braid_problem *p, const gemm_tile *tile, void **state,
                                   size_t *workspace_bytes);

/* Why it cannot do a data gradient, in words; NULL: it can. Of ops with convolutions. */
const char *igemm_backward_supports(const braid_problem *p, const device *d);

/* Pack the weights, and run on the buffers of conv2d or linear (their slots are the same). */
braid_status igemm_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status igemm_run(const braid_problem *p, device *d, void *state, const buffers *b);

void igemm_destroy(device *d, void *state);

/* A run with an end of its own; finish may be NULL. */
typedef struct igemm_work {
    const void *state; /* of igemm_create_* */
    const buffers *b;
    const product_finish *finish;
} igemm_work;

/* All of it; or, in any order, the pixels of every chunk, all streams and channels: those of chunk j are the
 * IGEMM_TILES_IN_CHUNK * tile->rows from number j * that on. By chunks in the forward direction only. */
void igemm_run_work(const igemm_work *w);
int64_t igemm_chunks(const void *state);
void igemm_run_chunk(const igemm_work *w, int64_t chunk);

/* Predicted seconds: the arithmetic at the tile's rate, and the packing of the weights. */
double igemm_cost(const braid_problem *p, const gemm_tile *tile);

#endif
