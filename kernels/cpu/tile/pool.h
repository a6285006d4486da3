/*
 * What the pooling kernels share: the lanes as state, the part of a window that lies inside the input, and rows
 * whose lanes behind the channels are zero.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POOL_H
#define BRAID_KERNELS_CPU_TILE_POOL_H

#include "kernels/cpu/tile/lanes.h"
#include "kernels/kernel.h"

/* The state of a pooling kernel is the lanes alone; no workspace. */
braid_status pool_create(const braid_problem *p, const lanes *l, void **state, size_t *workspace_bytes);
void pool_destroy(device *d, void *state);
double pool_cost(const braid_problem *p, const lanes *l);

/* What a launch hands to its parts. */
typedef struct pool_work {
    const braid_problem *p;
    const lanes *lanes;
    const buffers *b;
    int64_t out[2];    /* output height and width */
    int64_t band_rows; /* input rows of a part, where parts are bands of the input */
} pool_work;

/* Part = (stream * B + sample) * rows + row. */
typedef struct pool_place {
    int stream;
    int64_t sample, row;
} pool_place;
pool_place pool_find(const braid_problem *p, int64_t part, int64_t rows);

/* Why a max pooling window is too large to number its places exactly in a float; NULL: it is not. */
const char *pool_supports_max(const braid_problem *p, const device *d);

/* Along one axis: the inputs in the window of an output position. A count of 0 or less: all of it is padding. */
typedef struct pool_taps {
    int64_t first, count;
} pool_taps;
pool_taps pool_max_taps(const braid_problem *p, int axis, int64_t out);

/* The window that the taps of both axes make in one sample of stream i; x is the plane. */
lanes_window pool_window(const braid_problem *p, int i, int64_t sample, pool_taps rows, pool_taps columns,
                         const int64_t dilation[2], const float *x);

/* Zeros the lanes behind the channels of `pixels` pixels. */
void pool_clear(const braid_problem *p, int i, float *to, int64_t pixels);

#endif
