/*
 * avgpool: adaptive average pooling to a given output size, 1x1 (global) by default. Output position i of
 * an axis averages the inputs [floor(i H / P), ceil((i + 1) H / P)). Gradient: every input gets the share
 * of each window that it is in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

void avgpool_window(const braid_problem *p, int axis, int64_t out, int64_t *begin, int64_t *end) {
    *begin = out * p->size[axis] / p->out_size[axis];
    *end = ((out + 1) * p->size[axis] + p->out_size[axis] - 1) / p->out_size[axis];
}

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    shape_pixels(p, slot == AVGPOOL_Y ? p->out_size : p->size, p->in_channels[i], p->in_pitch[i], out);
}

static double flops(const braid_problem *p) { return 2 * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    int64_t terms = 1;
    for (int axis = 0; axis < 2; axis++) {
        int64_t window = p->size[axis] / p->out_size[axis] + 2, windows = p->out_size[axis] / p->size[axis] + 2;
        terms *= p->pass == BRAID_PASS_FWD ? window : windows;
    }
    return terms;
}

static void draw(rng *r, braid_problem *p) {
    draw_pixels(r, p);
    for (int axis = 0; axis < 2; axis++) p->out_size[axis] = draw_chance(r, 60) ? 1 : rng_between(r, 1, 7);
}

const op_info op_avgpool = {
    .name = "avgpool",
    .summary = "average of every window, to a given output size",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(out) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [AVGPOOL_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT}},
            [AVGPOOL_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
