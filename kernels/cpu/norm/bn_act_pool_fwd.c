/*
 * bn_act_pool: a part is one row of the output, window by window, all channels of a window at a time; every value is
 * normalised and activated where a window looks at it, and the full-size activation is never stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/pool.h"

static void run_row(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(a, part);
    if (at.channels <= 0) return;
    int blank = mask_blanks(a->b->plane[BN_FUSED_MASK][at.stream], at.sample);
    void *plane = a->b->plane[BN_FUSED_Y][at.stream];
    pool_taps rows = pool_max_taps(p, 0, at.row);
    pool_clear(a, &at, pool_pixel(a, &at, a->out, at.row, 0, plane), a->out[1]);
    for (int64_t column = 0; column < a->out[1]; column++) {
        void *y = pool_pixel(a, &at, a->out, at.row, column, plane);
        pool_taps columns = pool_max_taps(p, 1, column);
        if (blank || rows.count <= 0 || columns.count <= 0) {
            pool_fill(a, &at, y, blank ? 0 : -INFINITY);
            continue;
        }
        channel_window w = pool_window(a, &at, rows, columns, p->dilation, a->b->plane[BN_FUSED_X][at.stream]);
        pool_normalise(a, &at, BN_FUSED_SCALE, BN_FUSED_SHIFT, &w);
        a->loops->max(y, &w);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    pool_work a = {.p = p, .loops = state, .b = b, .out = {height, width}, .grid = {height, 1}};
    (void)d;
    pool_run(&a, run_row);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, bn_act_pool_fwd, cpu_direct, channels, pool_supports_max, pool_cost, pool_create, launch,
             pool_destroy)
