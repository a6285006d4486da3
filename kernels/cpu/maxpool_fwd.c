/*
 * maxpool in f32: a part is one row of the output, window by window, all channels of a window at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/pool.h"

/* One row of the output of one sample. */
static void run_row(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(p, part, a->out[0]);
    int i = at.stream;
    float *y = (float *)a->b->plane[MAXPOOL_Y][i] + (at.sample * a->out[0] + at.row) * a->out[1] * p->in_pitch[i];
    pool_taps rows = pool_max_taps(p, 0, at.row);
    pool_clear(p, i, y, a->out[1]);
    for (int64_t column = 0; column < a->out[1]; column++, y += p->in_pitch[i]) {
        pool_taps columns = pool_max_taps(p, 1, column);
        if (rows.count > 0 && columns.count > 0) {
            lanes_window w = pool_window(p, i, at.sample, rows, columns, p->dilation, a->b->plane[MAXPOOL_X][i]);
            a->lanes->max(y, &w);
        } else {
            for (int64_t c = 0; c < p->in_channels[i]; c++) y[c] = -INFINITY;
        }
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_work a = {p, state, b, {maxpool_out_size(p, 0), maxpool_out_size(p, 1)}, 0};
    (void)d;
    threads_for(p->streams * p->batch * a.out[0], run_row, &a);
    return BRAID_OK;
}

TILE_KERNEL(maxpool_fwd_f32__cpu_lanes_avx512, lanes_avx512, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_fwd_f32__cpu_lanes_avx2, lanes_avx2, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(maxpool_fwd_f32__cpu_lanes_portable, lanes_portable, pool_supports_max, pool_cost, pool_create, launch,
            pool_destroy)
