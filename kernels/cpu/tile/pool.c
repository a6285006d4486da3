/*
 * The common parts of pooling, pool.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/pool.h"

#include "kernels/cpu/cost.h"
#include "kernels/cpu/tile/parts.h"

#define MOST_PLACES (1 << 24) /* integers up to here are exact in a float */

braid_status pool_create(const braid_problem *p, const lanes *l, void **state, size_t *workspace_bytes) {
    (void)p;
    *state = (void *)l;
    *workspace_bytes = 0;
    return BRAID_OK;
}

void pool_destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

double pool_cost(const braid_problem *p, const lanes *l) { return cost_seconds(p, l->flops, 1, 2e-6); }

pool_place pool_find(const braid_problem *p, int64_t part, int64_t rows) {
    return (pool_place){(int)(part / rows / p->batch), part / rows % p->batch, part % rows};
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

lanes_window pool_window(const braid_problem *p, int i, int64_t sample, pool_taps rows, pool_taps columns,
                         const int64_t dilation[2], const float *x) {
    int64_t row_step = p->size[1] * p->in_pitch[i];
    return (lanes_window){
        .channels = p->in_channels[i],
        .rows = rows.count,
        .columns = columns.count,
        .row_step = dilation[0] * row_step,
        .column_step = dilation[1] * p->in_pitch[i],
        .x = x + (sample * p->size[0] + rows.first) * row_step + columns.first * p->in_pitch[i],
        .first_row = 0,
        .last_row = rows.count,
    };
}

void pool_clear(const braid_problem *p, int i, float *to, int64_t pixels) {
    int64_t gap = p->in_pitch[i] - p->in_channels[i];
    for (int64_t pixel = 0; gap > 0 && pixel < pixels; pixel++) {
        zero_floats(to + pixel * p->in_pitch[i] + p->in_channels[i], gap);
    }
}
