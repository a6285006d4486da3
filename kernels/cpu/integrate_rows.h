/*
 * integrate forward by rows (integrate_fwd.c), for kernels that mix a few pixels as soon as they are made.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_INTEGRATE_ROWS_H
#define BRAID_KERNELS_CPU_INTEGRATE_ROWS_H

#include "kernels/cpu/tile/gemm.h"
#include "kernels/kernel.h"

/* Readies an integrate problem, forward. Returns a state for integrate_rows_destroy. */
braid_status integrate_rows_create(const braid_problem *p, const gemm_tile *tile, void **state,
                                   size_t *workspace_bytes);
void integrate_rows_destroy(device *d, void *state);

/* The packing; then all of it or, in any order, the pixels of every chunk, those of igemm_run_chunk, or any pixels. */
braid_status integrate_rows_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status integrate_rows_run(const braid_problem *p, device *d, void *state, const buffers *b);
void integrate_rows_run_pixels(const braid_problem *p, const void *state, const buffers *b, int64_t first,
                               int64_t count);
void integrate_rows_run_chunk(const braid_problem *p, const void *state, const buffers *b, int64_t chunk);

#endif
