/*
 * maxpool: a part is one row of the output, window by window, all channels of a window at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pool.h"

static void run_row(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(a, part);
    if (at.channels <= 0) return;
    void *row = pool_pixel(a, &at, a->out, at.row, 0, a->b->plane[MAXPOOL_Y][at.stream]);
    pool_taps rows = pool_max_taps(p, 0, at.row);
    pool_clear(a, &at, row, a->out[1]);
    for (int64_t column = 0; column < a->out[1]; column++) {
        void *y = pool_pixel(a, &at, a->out, at.row, column, a->b->plane[MAXPOOL_Y][at.stream]);
        pool_taps columns = pool_max_taps(p, 1, column);
        if (rows.count > 0 && columns.count > 0) {
            channel_window w = pool_window(a, &at, rows, columns, p->dilation, a->b->plane[MAXPOOL_X][at.stream]);
            a->loops->max(y, &w);
        } else {
            pool_fill(a, &at, y, -INFINITY);
        }
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    pool_work a = {.p = p, .loops = state, .b = b, .out = {height, width}, .grid = {height, 1}};
    (void)d;
    pool_run(&a, run_row);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, maxpool_fwd, cpu_direct, channels, pool_supports_max, pool_cost, pool_create, launch,
             pool_destroy)
