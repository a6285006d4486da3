/*
 * Max pooling backwards. A part is a tile of dx and some of the channels: it goes through all windows that reach into
 * the tile, finds the taken places again from x, adds dy to those inside, in float and on the stack, and then stores
 * the tile. Windows across the edge of a tile are looked at more than once; no place of dx is written by two parts,
 * and its sum has one order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/pool_gradient.h"

#include "kernels/cpu/isa/copy.h"

#define TILE_FLOATS 16384 /* 64 KiB */
#define TILE_CHANNELS 64
#define TILE_COLUMNS 64 /* at most */

/* [begin, end) along one axis. */
typedef struct range {
    int64_t begin, end;
} range;

/* Those places of a window, of `taps` along an axis, that lie in the inputs [in.begin, in.end). */
static range places_within(pool_taps taps, int64_t step, range in) {
    int64_t begin = in.begin > taps.first ? ceil_div(in.begin - taps.first, step) : 0;
    return (range){begin, in.end > taps.first ? at_most(taps.count, ceil_div(in.end - taps.first, step)) : 0};
}

/* The outputs whose windows may reach into the inputs `in` of an axis. */
static range outputs_of(const pool_work *a, int axis, range in) {
    const braid_problem *p = a->p;
    int64_t reach = p->dilation[axis] * (p->filter[axis] - 1), from = in.begin + p->padding[axis] - reach;
    return (range){from > 0 ? ceil_div(from, p->stride[axis]) : 0,
                   at_most(a->out[axis], ceil_div(in.end + p->padding[axis], p->stride[axis]))};
}

static range inputs_of(const pool_work *a, int axis, int64_t tile) {
    int64_t begin = tile * a->tile[axis];
    return (range){begin, at_most(begin + a->tile[axis], a->p->size[axis])};
}

/* The gradient of one window, added to the tile of the inputs `rows` by `columns`. */
static void add_window(const pool_gradient *g, const pool_place *at, float *values, const range in[2], int64_t row,
                       int64_t column) {
    const pool_work *a = &g->work;
    const braid_problem *p = a->p;
    pool_taps rows = pool_max_taps(p, 0, row), columns = pool_max_taps(p, 1, column);
    range down = places_within(rows, p->dilation[0], in[0]), across = places_within(columns, p->dilation[1], in[1]);
    if (down.begin >= down.end || across.begin >= across.end) return;
    int64_t pixel = at->channels, line = (in[1].end - in[1].begin) * pixel;
    channel_window w = pool_window(a, at, rows, columns, p->dilation, a->b->plane[g->x][at->stream]);
    if (g->normalised) pool_normalise(a, at, g->scale, g->shift, &w);
    channel_tile to = {
        .values = values,
        .origin = (rows.first - in[0].begin) * line + (columns.first - in[1].begin) * pixel,
        .row_step = p->dilation[0] * line,
        .column_step = p->dilation[1] * pixel,
        .first_row = down.begin,
        .last_row = down.end,
        .first_column = across.begin,
        .last_column = across.end,
    };
    a->loops->max_gradient(&to, pool_pixel(a, at, a->out, row, column, a->b->plane[g->dy][at->stream]), &w);
}

/* Stores one row of the tile, and the zeros behind the channels. */
static void store_row(const pool_gradient *g, const pool_place *at, const float *from, range columns, int64_t row) {
    const pool_work *a = &g->work;
    const braid_problem *p = a->p;
    void *plane = a->b->plane[g->dx][at->stream];
    void *first = pool_pixel(a, at, p->size, row, columns.begin, plane);
    int64_t count = columns.end - columns.begin;
    pool_clear(a, at, first, count);
    if (at->channels == p->in_pitch[at->stream]) {
        a->loops->store(first, p->dtype, from, count * at->channels);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        void *to = pool_pixel(a, at, p->size, row, columns.begin + i, plane);
        a->loops->store(to, p->dtype, from + i * at->channels, at->channels);
    }
}

/* Turns one stored row into the gradient before the activation. */
static void gate_row(const pool_gradient *g, const pool_place *at, range columns, int64_t row) {
    const pool_work *a = &g->work;
    const braid_problem *p = a->p;
    void *out = pool_pixel(a, at, p->size, row, columns.begin, a->b->plane[g->dx][at->stream]);
    channel_map m = {
        .kind = CHANNEL_GATE_RELU + (channel_kind)p->activation,
        .dtype = p->dtype,
        .channels = at->channels,
        .pitch = p->in_pitch[at->stream],
        .count = columns.end - columns.begin,
        .x = pool_pixel(a, at, p->size, row, columns.begin, a->b->plane[g->x][at->stream]),
        .z = out,
        .out = out,
        .coefficient = {(const float *)a->b->plane[g->scale][at->stream] + at->channel,
                        (const float *)a->b->plane[g->shift][at->stream] + at->channel},
    };
    a->loops->map(&m);
}

static void run_tile(void *context, int64_t part) {
    const pool_gradient *g = context;
    const pool_work *a = &g->work;
    pool_place at = pool_find(a, part);
    if (at.channels <= 0) return;
    if (g->normalised && mask_blanks(a->b->plane[g->mask][at.stream], at.sample)) return;
    float values[TILE_FLOATS];
    const range in[2] = {inputs_of(a, 0, at.row), inputs_of(a, 1, at.column)};
    const range rows = outputs_of(a, 0, in[0]), columns = outputs_of(a, 1, in[1]);
    int64_t line = (in[1].end - in[1].begin) * at.channels;
    zero_floats(values, (in[0].end - in[0].begin) * line);
    for (int64_t row = rows.begin; row < rows.end; row++) {
        for (int64_t column = columns.begin; column < columns.end; column++) {
            add_window(g, &at, values, in, row, column);
        }
    }
    for (int64_t row = in[0].begin; row < in[0].end; row++) {
        store_row(g, &at, values + (row - in[0].begin) * line, in[1], row);
        if (g->normalised) gate_row(g, &at, in[1], row);
    }
}

/* Tiles of equal width, and of as many rows as fit; the parts of all streams are cut alike. */
void pool_gradient_run(pool_gradient *g, const braid_problem *p, const channel_loops *l, const buffers *b) {
    const int64_t across = ceil_div(p->size[1], TILE_COLUMNS), width = ceil_div(p->size[1], across);
    int64_t widest = 1;
    for (int i = 0; i < p->streams; i++) widest = p->in_channels[i] > widest ? p->in_channels[i] : widest;
    const int64_t channels = at_most(widest, TILE_CHANNELS);
    const int64_t height = at_most(TILE_FLOATS / (width * channels), p->size[0]);
    g->work = (pool_work){
        .p = p,
        .loops = l,
        .b = b,
        .out = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)},
        .grid = {ceil_div(p->size[0], height), across},
        .tile = {height, width},
        .part_channels = channels,
    };
    pool_run(&g->work, run_tile);
}
