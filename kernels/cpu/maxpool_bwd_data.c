/*
 * maxpool gradient in f32. A part is a band of rows of dx: it goes through all windows that reach into the
 * band, finds the taken places again from x, and adds dy to those inside. Windows across the edge of a band
 * are looked at twice; no place of dx is written by two parts, and its sum has one order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/pool.h"

#define BAND_FLOATS 32768 /* of dx: 128 KiB, about */
#define BAND_ROWS 8       /* at least */

/* The rows of the window that lie in [begin, end) of the input. */
static void keep_rows(lanes_window *w, int64_t first, int64_t step, int64_t begin, int64_t end) {
    if (begin > first) w->first_row = ceil_div(begin - first, step);
    w->last_row = end > first ? at_most(w->rows, ceil_div(end - first, step)) : 0;
}

/* All windows of one row of the output that have rows in [begin, end). */
static void add_row(const pool_work *a, pool_place at, int64_t row, int64_t begin, int64_t end) {
    const braid_problem *p = a->p;
    int i = at.stream;
    const float *x = a->b->plane[MAXPOOL_X][i], *dy = a->b->plane[MAXPOOL_Y][i];
    float *dx = a->b->plane[MAXPOOL_DX][i];
    pool_taps rows = pool_max_taps(p, 0, row);
    for (int64_t column = 0; column < a->out[1]; column++) {
        pool_taps columns = pool_max_taps(p, 1, column);
        if (rows.count <= 0 || columns.count <= 0) continue;
        lanes_window w = pool_window(p, i, at.sample, rows, columns, p->dilation, x);
        keep_rows(&w, rows.first, p->dilation[0], begin, end);
        if (w.first_row >= w.last_row) continue;
        const float *from = dy + ((at.sample * a->out[0] + row) * a->out[1] + column) * p->in_pitch[i];
        a->lanes->max_gradient(dx + (w.x - x), from, &w);
    }
}

static void run_band(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(p, part, ceil_div(p->size[0], a->band_rows));
    int64_t begin = at.row * a->band_rows, end = at_most(begin + a->band_rows, p->size[0]);
    int64_t row_floats = p->size[1] * p->in_pitch[at.stream];
    int64_t reach = p->dilation[0] * (p->filter[0] - 1), from = begin + p->padding[0] - reach;
    zero_floats((float *)a->b->plane[MAXPOOL_DX][at.stream] + (at.sample * p->size[0] + begin) * row_floats,
                (end - begin) * row_floats);
    for (int64_t row = from > 0 ? ceil_div(from, p->stride[0]) : 0;
         row < a->out[0] && row * p->stride[0] - p->padding[0] < end; row++) {
        add_row(a, at, row, begin, end);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_work a = {p, state, b, {maxpool_out_size(p, 0), maxpool_out_size(p, 1)}, BAND_ROWS};
    int64_t widest = 1;
    (void)d;
    for (int i = 0; i < p->streams; i++) widest = p->in_pitch[i] > widest ? p->in_pitch[i] : widest;
    if (BAND_FLOATS / widest / p->size[1] > BAND_ROWS) a.band_rows = BAND_FLOATS / widest / p->size[1];
    threads_for(p->streams * p->batch * ceil_div(p->size[0], a.band_rows), run_band, &a);
    return BRAID_OK;
}

TILE_KERNEL(maxpool_bwd_data_f32__cpu_lanes_avx512, lanes_avx512, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_bwd_data_f32__cpu_lanes_avx2, lanes_avx2, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_bwd_data_f32__cpu_lanes_portable, lanes_portable, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
