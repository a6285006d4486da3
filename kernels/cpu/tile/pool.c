/*
 * The common parts of pooling, pool.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/pool.h"

#include "core/dtype.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define MOST_PLACES (1 << 24) /* integers up to here are exact in a float */

braid_status pool_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes) {
    (void)p;
    *state = (void *)l;
    *workspace_bytes = 0;
    return BRAID_OK;
}

void pool_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

double pool_cost(const braid_problem *p, const machine *on, const channel_loops *l) {
    return cost_seconds(p, on, l->flops, 1, 2e-6);
}

void pool_run(pool_work *a, void (*part)(void *work, int64_t index)) {
    const braid_problem *p = a->p;
    int64_t widest = 1;
    for (int i = 0; i < p->streams; i++) widest = p->in_channels[i] > widest ? p->in_channels[i] : widest;
    if (a->part_channels == 0) a->part_channels = widest;
    a->channel_parts = ceil_div(widest, a->part_channels);
    a->bytes = dtype_bytes(p->dtype);
    threads_for(p->streams * p->batch * a->grid[0] * a->grid[1] * a->channel_parts, part, a);
}

pool_place pool_find(const pool_work *a, int64_t index) {
    int64_t tile = index / a->channel_parts, sample = tile / a->grid[1] / a->grid[0];
    pool_place at = {
        .stream = (int)(sample / a->p->batch),
        .sample = sample % a->p->batch,
        .row = tile / a->grid[1] % a->grid[0],
        .column = tile % a->grid[1],
        .channel = index % a->channel_parts * a->part_channels,
    };
    at.channels = at_most(a->part_channels, a->p->in_channels[at.stream] - at.channel);
    return at;
}

const char *pool_supports_max(const braid_problem *p, const device *d) {
    (void)d;
    int64_t height = at_most(p->filter[0], p->size[0]), width = at_most(p->filter[1], p->size[1]);
    return height > MOST_PLACES / width ? "only windows of up to 2^24 places" : NULL;
}

pool_taps pool_max_taps(const braid_problem *p, int axis, int64_t out) {
    int64_t begin = out * p->stride[axis] - p->padding[axis], step = p->dilation[axis];
    int64_t skipped = begin < 0 ? ceil_div(-begin, step) : 0;
    int64_t taps = begin < p->size[axis] ? at_most(p->filter[axis], ceil_div(p->size[axis] - begin, step)) : 0;
    return (pool_taps){begin + skipped * step, taps - skipped};
}

channel_window pool_window(const pool_work *a, const pool_place *at, pool_taps rows, pool_taps columns,
                           const int64_t dilation[2], const void *x) {
    const braid_problem *p = a->p;
    int64_t pitch = p->in_pitch[at->stream], row_step = p->size[1] * pitch;
    int64_t first = (at->sample * p->size[0] + rows.first) * row_step + columns.first * pitch + at->channel;
    return (channel_window){
        .dtype = p->dtype,
        .channels = at->channels,
        .rows = rows.count,
        .columns = columns.count,
        .row_step = dilation[0] * row_step,
        .column_step = dilation[1] * pitch,
        .x = plane_from(x, first, a->bytes),
    };
}

void pool_normalise(const pool_work *a, const pool_place *at, int scale, int shift, channel_window *w) {
    w->scale = (const float *)a->b->plane[scale][at->stream] + at->channel;
    w->shift = (const float *)a->b->plane[shift][at->stream] + at->channel;
    w->kind = CHANNEL_RELU + (channel_kind)a->p->activation;
}

void *pool_pixel(const pool_work *a, const pool_place *at, const int64_t size[2], int64_t row, int64_t column,
                 void *plane) {
    int64_t pixel = (at->sample * size[0] + row) * size[1] + column;
    return plane_to(plane, pixel * a->p->in_pitch[at->stream] + at->channel, a->bytes);
}

void pool_clear(const pool_work *a, const pool_place *at, void *first, int64_t pixels) {
    if (at->channel == 0) zero_gaps(first, pixels, a->p->in_channels[at->stream], a->p->in_pitch[at->stream], a->bytes);
}

void pool_fill(const pool_work *a, const pool_place *at, void *first, double value) {
    for (int64_t c = 0; c < at->channels; c++) dtype_store(first, a->p->dtype, c, value);
}
