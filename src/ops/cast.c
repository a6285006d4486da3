/*
 * cast: the same numbers in another format, to nearest, ties to even. x [B][H][W][C] in the dtype of the
 * problem becomes y in `to`, with the same pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out);
    if (slot == CAST_Y) out->dtype = p->to;
}

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 1;
}

static void draw(rng *r, braid_problem *p) {
    draw_pixels(r, p);
    p->to = (braid_dtype)rng_between(r, BRAID_DTYPE_F32, BRAID_DTYPE_F64);
}

const op_info op_cast = {
    .name = "cast",
    .summary = "activations in another number format",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(to) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .gradient = GRADIENT_CAST,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [CAST_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [CAST_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = shape_total,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
