/*
 * avgpool: a part is one row of the output and some of the channels. Every row of a window is summed apart, so
 * that the error of a large window stays small.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/tile/pool.h"

#define PART_CHANNELS 64 /* with an output of 1x1 there is little else to divide */

static void run_part(void *context, int64_t part) {
    const pool_work *a = context;
    static const int64_t dense[2] = {1, 1};
    pool_place at = pool_find(a, part);
    if (at.channels <= 0) return;
    void *plane = a->b->plane[AVGPOOL_Y][at.stream];
    int64_t top, bottom;
    avgpool_window(a->p, 0, at.row, &top, &bottom);
    pool_clear(a, &at, pool_pixel(a, &at, a->out, at.row, 0, plane), a->out[1]);
    for (int64_t column = 0; column < a->out[1]; column++) {
        int64_t left, right;
        avgpool_window(a->p, 1, column, &left, &right);
        channel_window w = pool_window(a, &at, (pool_taps){top, bottom - top}, (pool_taps){left, right - left}, dense,
                                       a->b->plane[AVGPOOL_X][at.stream]);
        a->loops->mean(pool_pixel(a, &at, a->out, at.row, column, plane), &w);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_work a = {
        .p = p,
        .loops = state,
        .b = b,
        .out = {p->out_size[0], p->out_size[1]},
        .grid = {p->out_size[0], 1},
        .part_channels = PART_CHANNELS,
    };
    (void)d;
    pool_run(&a, run_part);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, avgpool_fwd, cpu_direct, channels, supports_all, pool_cost, pool_create, launch, pool_destroy)
