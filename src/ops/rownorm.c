/*
 * rownorm: y = x / max(|x|, eps) for every row of every stream, |x| being its Euclidean norm; x and y [B][C].
 * Gradient: dx = (dy - y <y, dy>) / |x|, and dy / eps where |x| is below eps, for the divisor is constant there.
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
    *out = (plane_shape){p->dtype, 2, {p->batch, p->in_channels[i]}, p->in_pitch[i]};
}

static double flops(const braid_problem *p) {
    double channels = 0;
    for (int i = 0; i < p->streams; i++) channels += (double)p->in_channels[i];
    return (p->pass == BRAID_PASS_FWD ? 3 : 7) * (double)p->batch * channels;
}

/* The sum over a row, and the two operations behind it. */
static int64_t terms(const braid_problem *p) {
    int64_t most = 1;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] > most) most = p->in_channels[i];
    }
    return most + 2;
}

static void draw(rng *r, braid_problem *p) {
    static const double small[] = {1e-12, 1e-12, 1e-5, 3};
    p->batch = draw_size(r, 65);
    p->eps = small[rng_between(r, 0, 3)];
    for (int i = 0; i < p->streams; i++) p->in_channels[i] = draw_size(r, 257);
    while (flops(p) > DRAW_ELEMENTS && p->batch > 1) p->batch = (p->batch + 1) / 2;
}

const op_info op_rownorm = {
    .name = "rownorm",
    .summary = "divide every row by its Euclidean norm",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(eps) | FIELD_BIT(cp),
    .reals = {{FIELD_eps, 1e-12, 1000}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [ROWNORM_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [ROWNORM_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
            [ROWNORM_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_rows,
};
