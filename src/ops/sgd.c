/*
 * sgd: stochastic gradient descent with momentum. With lr, decay of the group of each element:
 *
 *   g = g * scale;  g = g + decay * w
 *   mom > 0:  m = mom * m + g;  g = nest ? g + mom * m : m
 *   w = w + (-lr) * g
 *
 * Operands are those of ops/update.h; m is there where mom > 0, step is not read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/update.h"

static int planes(const braid_problem *p, int slot) { return update_planes(p, slot, p->momentum > 0, 0); }

static double flops(const braid_problem *p) {
    return (5 + (p->momentum > 0 ? 2 : 0) + (p->nesterov ? 2 : 0)) * (double)p->in_channels[0];
}

static braid_status check(const braid_problem *p) {
    if (!p->nesterov || p->momentum > 0) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "sgd: expected mom (momentum) above 0 with nest1, got 0");
}

static void draw(rng *r, braid_problem *p) {
    update_draw(r, p);
    p->momentum = draw_chance(r, 30) ? 0 : update_draw_share(r, 0.9);
    p->nesterov = p->momentum > 0 && draw_chance(r, 50);
}

const op_info op_sgd = {
    .name = "sgd",
    .summary = "update of all parameters by gradient descent",
    UPDATE_OP,
    .fields = UPDATE_FIELDS | FIELD_BIT(mom) | FIELD_BIT(nest),
    .reals = {{FIELD_mom, 0, 1}},
    .check = check,
    .planes = planes,
    .flops = flops,
    .draw = draw,
};
