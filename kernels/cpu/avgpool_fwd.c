/*
 * avgpool in f32: a part is one row of the output and some of the channels. Every row of a window is summed
 * apart, so that the error of a large window stays small.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/parts.h"
#include "kernels/cpu/tile/pool.h"

#define PART_CHANNELS 64 /* of a part: with an output of 1x1 there is little else to divide */

/* Part = ((stream * B + sample) * rows + row) * channel parts + channel part, with the parts of the widest stream. */
typedef struct mean_work {
    pool_work pool;
    int64_t channel_parts;
} mean_work;

static void run_part(void *context, int64_t part) {
    const mean_work *m = context;
    const pool_work *a = &m->pool;
    const braid_problem *p = a->p;
    static const int64_t dense[2] = {1, 1};
    pool_place at = pool_find(p, part / m->channel_parts, a->out[0]);
    int i = at.stream;
    int64_t c = part % m->channel_parts * PART_CHANNELS, top, bottom;
    if (c >= p->in_channels[i]) return;
    float *y = (float *)a->b->plane[AVGPOOL_Y][i] + (at.sample * a->out[0] + at.row) * a->out[1] * p->in_pitch[i];
    avgpool_window(p, 0, at.row, &top, &bottom);
    if (c == 0) pool_clear(p, i, y, a->out[1]);
    for (int64_t column = 0; column < a->out[1]; column++, y += p->in_pitch[i]) {
        int64_t left, right;
        avgpool_window(p, 1, column, &left, &right);
        lanes_window w = pool_window(p, i, at.sample, (pool_taps){top, bottom - top}, (pool_taps){left, right - left},
                                     dense, a->b->plane[AVGPOOL_X][i]);
        w.x += c;
        w.channels = at_most(PART_CHANNELS, p->in_channels[i] - c);
        a->lanes->mean(y + c, &w);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    mean_work m = {{p, state, b, {p->out_size[0], p->out_size[1]}, 0}, 1};
    (void)d;
    for (int i = 0; i < p->streams; i++) {
        int64_t parts = ceil_div(p->in_channels[i], PART_CHANNELS);
        if (parts > m.channel_parts) m.channel_parts = parts;
    }
    threads_for(p->streams * p->batch * p->out_size[0] * m.channel_parts, run_part, &m);
    return BRAID_OK;
}

TILE_KERNEL(avgpool_fwd_f32__cpu_lanes_avx512, lanes_avx512, supports_all, pool_cost, pool_create, launch, pool_destroy)
TILE_KERNEL(avgpool_fwd_f32__cpu_lanes_avx2, lanes_avx2, supports_all, pool_cost, pool_create, launch, pool_destroy)
TILE_KERNEL(avgpool_fwd_f32__cpu_lanes_portable, lanes_portable, supports_all, pool_cost, pool_create, launch,
            pool_destroy)
