/*
 * add: y = x + z, element by element: the residual connection. Its gradient is dy for both, so it has no
 * backward pass: the planner hands dy on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    (void)slot;
    shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out);
}

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 2;
}

const op_info op_add = {
    .name = "add",
    .summary = "sum of two activations",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .gradient = GRADIENT_SAME,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [ADD_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [ADD_Z] = {"z", FILL_SIGNED, {ROLE_IN}},
            [ADD_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = shape_total,
    .terms = terms,
    .draw = draw_pixels,
    .shrink = shrink_pixels,
};
