/*
 * rmsprop, not centered. With lr, decay of the group of each element:
 *
 *   g = g * scale;  g = g + decay * w
 *   v = alpha * v + ((1 - alpha) * g) * g
 *   d = sqrt(v) + eps
 *   mom > 0:  m = mom * m + g / d;  w = w + (-lr) * m
 *   mom = 0:  w = w + ((-lr) * g) / d
 *
 * Operands are those of ops/update.h; m is there where mom > 0, step is not read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/update.h"

static int planes(const braid_problem *p, int slot) { return update_planes(p, slot, p->momentum > 0, 1); }

static double flops(const braid_problem *p) { return (11 + (p->momentum > 0 ? 2 : 0)) * (double)p->in_channels[0]; }

static void draw(rng *r, braid_problem *p) {
    update_draw(r, p);
    p->alpha = update_draw_share(r, 0.99);
    p->eps = update_draw_eps(r);
    p->momentum = draw_chance(r, 50) ? 0 : update_draw_share(r, 0.9);
}

const op_info op_rmsprop = {
    .name = "rmsprop",
    .summary = "update of all parameters by rmsprop",
    UPDATE_OP,
    .fields = UPDATE_FIELDS | FIELD_BIT(alpha) | FIELD_BIT(eps) | FIELD_BIT(mom),
    .reals = {{FIELD_alpha, 0.99, 1}, {FIELD_eps, 1e-8, 1}, {FIELD_mom, 0, 1}},
    .planes = planes,
    .flops = flops,
    .draw = draw,
};
