/*
 * act: y = f(x), element by element, for ReLU, exact GELU (x * Phi(x)) and its tanh approximation.
 * Gradient: dx = dy * f'(x); ReLU has f'(0) = 0.
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

static braid_status check(const braid_problem *p) { return op_check_activation(p, ""); }

static double flops(const braid_problem *p) {
    return (p->activation == BRAID_ACTIVATION_RELU ? 1 : 16) * shape_total(p);
}

static int64_t terms(const braid_problem *p) { return p->activation == BRAID_ACTIVATION_RELU ? 1 : 4; }

static void draw(rng *r, braid_problem *p) {
    p->activation = draw_activation(r, 33, 0);
    draw_pixels(r, p);
}

const op_info op_act = {
    .name = "act",
    .summary = "activation: ReLU, exact GELU, tanh GELU",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(act) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .is_cheap = 1,
    .operands =
        {
            [ACT_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [ACT_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
            [ACT_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
