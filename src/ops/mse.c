/*
 * mse: loss = mean over all elements of (x - t)^2, for x and t [B][C] of one stream; 0 for a batch of nothing.
 * Gradient: dx = 2 (x - t) dloss / (B C).
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)p;
    (void)slot;
    return 1;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    (void)i;
    if (slot == MSE_LOSS)
        shape_statistics(p, 1, out);
    else
        shape_rows(p, out);
}

static double flops(const braid_problem *p) { return 3 * (double)p->batch * (double)p->in_channels[0]; }

static int64_t terms(const braid_problem *p) {
    int64_t count = p->batch * p->in_channels[0];
    return p->pass == BRAID_PASS_FWD && count ? count : 1;
}

static void draw(rng *r, braid_problem *p) {
    p->in_channels[0] = draw_chance(r, 30) ? rng_between(r, 1, 2000) : draw_size(r, 257);
    p->batch = draw_chance(r, 60) ? rng_between(r, 1, 12) : draw_size(r, 129);
    while (p->batch * p->in_channels[0] > DRAW_ELEMENTS && p->batch > 1) p->batch /= 2;
}

const op_info op_mse = {
    .name = "mse",
    .summary = "mean of squared differences",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(cp),
    .max_streams = 1,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [MSE_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [MSE_T] = {"t", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [MSE_LOSS] = {"loss", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
            [MSE_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_rows,
};
