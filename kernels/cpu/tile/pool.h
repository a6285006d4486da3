/*
 * What the pooling kernels share: the loops as state, the part of a window that lies inside the input, and rows
 * whose lanes behind the channels are zero.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_POOL_H
#define BRAID_KERNELS_CPU_TILE_POOL_H

#include "kernels/cpu/isa/channels.h"
#include "kernels/kernel.h"

/* The state of a pooling kernel is the loops alone; no workspace. */
braid_status pool_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes);
void pool_destroy(device *d, void *state);
double pool_cost(const braid_problem *p, const machine *on, const channel_loops *l);

/* What a launch hands to its parts. A part is a tile of a plane, one row of it where nothing else is said, and some of
 * the channels. */
typedef struct pool_work {
    const braid_problem *p;
    const channel_loops *loops; /* the state */
    const buffers *b;
    int64_t out[2];        /* output height and width */
    int64_t grid[2];       /* tiles down and across */
    int64_t tile[2];       /* rows and columns of a tile, for those that are not rows */
    int64_t part_channels; /* of a part, at most; 0: all */
    int64_t channel_parts; /* of the widest stream; pool_run counts them */
    size_t bytes;          /* of a value; pool_run sets it */
} pool_work;

/* Runs part(work, index) for index = (((stream * B + sample) * grid[0] + row) * grid[1] + column) * channel parts +
 * channel part. */
void pool_run(pool_work *a, void (*part)(void *work, int64_t index));

/* What a part works on. */
typedef struct pool_place {
    int stream;
    int64_t sample, row, column; /* of tiles */
    int64_t channel, channels;   /* the first, and how many: 0 or less where the stream has no such part */
} pool_place;
pool_place pool_find(const pool_work *a, int64_t part);

/* Why a max pooling window is too large to number its places exactly in a float; NULL: it is not. */
const char *pool_supports_max(const braid_problem *p, const device *d);

/* Along one axis: the inputs in the window of an output position. A count of 0 or less: all of it is padding. */
typedef struct pool_taps {
    int64_t first, count;
} pool_taps;
pool_taps pool_max_taps(const braid_problem *p, int axis, int64_t out);

/* The window that the taps of both axes make in the channels of a part; x is the plane. */
channel_window pool_window(const pool_work *a, const pool_place *at, pool_taps rows, pool_taps columns,
                           const int64_t dilation[2], const void *x);

/* Makes it the window of f(x scale + shift), with the activation of the problem; scale and shift are slots. */
void pool_normalise(const pool_work *a, const pool_place *at, int scale, int shift, channel_window *w);

/* The channels of a part at one pixel of its sample; the plane is of the size. */
void *pool_pixel(const pool_work *a, const pool_place *at, const int64_t size[2], int64_t row, int64_t column,
                 void *plane);

/* The channels of a part, from `first` on, become one value. */
void pool_fill(const pool_work *a, const pool_place *at, void *first, double value);

/* Zeros the lanes behind the channels of `pixels` pixels from that of `first` on, in the part that begins with channel
 * 0. */
void pool_clear(const pool_work *a, const pool_place *at, void *first, int64_t pixels);

#endif
