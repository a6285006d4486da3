/*
 * avgpool gradient: a part is one row of dx and some of the channels. An input at h is in the windows
 * [floor(h P / H), ceil((h + 1) P / H)) of its axis, the rule of the forward pass with the sizes exchanged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/pool.h"

#define PART_CHANNELS 512

/* The windows of an axis that hold the input at `in`. */
static void windows_of(const braid_problem *p, int axis, int64_t in, int64_t *begin, int64_t *end) {
    *begin = in * p->out_size[axis] / p->size[axis];
    *end = ceil_div((in + 1) * p->out_size[axis], p->size[axis]);
}

/* How many inputs the window has along an axis. */
static int64_t window_size(const braid_problem *p, int axis, int64_t out) {
    int64_t begin, end;
    avgpool_window(p, axis, out, &begin, &end);
    return end - begin;
}

/* One pixel of dx: the shares of the windows in rows [top, bottom), added up in float. */
static void make_pixel(const pool_work *a, const pool_place *at, int64_t w, int64_t top, int64_t bottom) {
    const braid_problem *p = a->p;
    float sum[PART_CHANNELS];
    int64_t left, right;
    windows_of(p, 1, w, &left, &right);
    zero_floats(sum, at->channels);
    for (int64_t row = top; row < bottom; row++) {
        for (int64_t column = left; column < right; column++) {
            float share = 1 / (float)(window_size(p, 0, row) * window_size(p, 1, column));
            const void *dy = pool_pixel(a, at, a->out, row, column, a->b->plane[AVGPOOL_Y][at->stream]);
            a->loops->add_share(sum, dy, p->dtype, share, at->channels);
        }
    }
    void *dx = pool_pixel(a, at, p->size, at->row, w, a->b->plane[AVGPOOL_X][at->stream]);
    a->loops->store(dx, p->dtype, sum, at->channels);
}

static void run_part(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(a, part);
    int64_t top, bottom;
    if (at.channels <= 0) return;
    windows_of(p, 0, at.row, &top, &bottom);
    pool_clear(a, &at, pool_pixel(a, &at, p->size, at.row, 0, a->b->plane[AVGPOOL_X][at.stream]), p->size[1]);
    for (int64_t w = 0; w < p->size[1]; w++) make_pixel(a, &at, w, top, bottom);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_work a = {
        .p = p,
        .loops = state,
        .b = b,
        .out = {p->out_size[0], p->out_size[1]},
        .grid = {p->size[0], 1},
        .part_channels = PART_CHANNELS,
    };
    (void)d;
    pool_run(&a, run_part);
    return BRAID_OK;
}

TILE_KERNELS(AVX512_BF16, avgpool_bwd_data, cpu_direct, channels, supports_all, pool_cost, pool_create, launch,
             pool_destroy)
