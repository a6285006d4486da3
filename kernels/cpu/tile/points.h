/*
 * Kernels that make every output value from the input values at its own place: the walk over the chunks of
 * all streams, once for all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POINTS_H
#define BRAID_KERNELS_CPU_TILE_POINTS_H

#include "kernels/cpu/tile/chunks.h"

/* Makes the output of consecutive pixels; `out` is that of the first. */
typedef void (*points_function)(const braid_problem *p, const lanes *l, float *out, const lanes_pixels *pixels);

/* Runs it over all pixels: x and, where it is not -1, a second input become `out`; these are slots. Lanes behind the
 * channels become zero. `state` is that of chunks_create_bare. */
void points_run(const braid_problem *p, const void *state, const buffers *b, const int slots[3], points_function make);

#endif
