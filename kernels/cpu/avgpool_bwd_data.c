/*
 * avgpool gradient in f32: a part is one row of dx. An input at h is in the windows
 * [floor(h P / H), ceil((h + 1) P / H)) of its axis, the rule of the forward pass with the sizes exchanged.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/pool.h"

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

/* One pixel of dx: the shares of the windows in rows [top, bottom) of dy of its sample. */
static void make_pixel(const pool_work *a, int i, float *dx, const float *dy, int64_t w, int64_t top, int64_t bottom) {
    const braid_problem *p = a->p;
    int64_t left, right;
    windows_of(p, 1, w, &left, &right);
    for (int64_t row = top; row < bottom; row++) {
        for (int64_t column = left; column < right; column++) {
            float share = 1 / (float)(window_size(p, 0, row) * window_size(p, 1, column));
            a->lanes->add_share(dx, dy + (row * p->out_size[1] + column) * p->in_pitch[i], share, p->in_channels[i],
                                row == top && column == left);
        }
    }
}

static void run_row(void *context, int64_t part) {
    const pool_work *a = context;
    const braid_problem *p = a->p;
    pool_place at = pool_find(p, part, p->size[0]);
    int i = at.stream;
    int64_t top, bottom, pitch = p->in_pitch[i];
    float *dx = (float *)a->b->plane[AVGPOOL_X][i] + (at.sample * p->size[0] + at.row) * p->size[1] * pitch;
    const float *dy = (const float *)a->b->plane[AVGPOOL_Y][i] + at.sample * a->out[0] * a->out[1] * pitch;
    windows_of(p, 0, at.row, &top, &bottom);
    pool_clear(p, i, dx, p->size[1]);
    for (int64_t w = 0; w < p->size[1]; w++) make_pixel(a, i, dx + w * pitch, dy, w, top, bottom);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    pool_work a = {p, state, b, {p->out_size[0], p->out_size[1]}, 0};
    (void)d;
    threads_for(p->streams * p->batch * p->size[0], run_row, &a);
    return BRAID_OK;
}

TILE_KERNEL(avgpool_bwd_data_f32__cpu_lanes_avx512, lanes_avx512, supports_all, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(avgpool_bwd_data_f32__cpu_lanes_avx2, lanes_avx2, supports_all, pool_cost, pool_create, launch,
            pool_destroy)
TILE_KERNEL(avgpool_bwd_data_f32__cpu_lanes_portable, lanes_portable, supports_all, pool_cost, pool_create, launch,
            pool_destroy)
