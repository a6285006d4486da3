/*
 * adam: with the mean and the mean square of the gradients. With lr, decay of the group of each element:
 *
 *   g = g * scale;  g = g + decay * w
 *   m = m + (1 - betam) * (g - m)
 *   v = betas * v + ((1 - betas) * g) * g
 *   d = sqrt(v) / sqrt(1 - betas^step) + eps
 *   w = w + (-lr / (1 - betam^step) * m) / d
 *
 * Operands are those of ops/update.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/adam.h"

static double flops(const braid_problem *p) { return 15 * (double)p->in_channels[0]; }

const op_info op_adam = {
    .name = "adam",
    .summary = "update of all parameters by Adam",
    ADAM_OP,
    .flops = flops,
};

int adam_planes(const braid_problem *p, int slot) { return update_planes(p, slot, 1, 1); }

braid_status adam_check(const braid_problem *p) {
    if (p->beta_mean < 1 && p->beta_square < 1) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected betam (beta_mean) and betas (beta_square) below 1, got %g and %g",
                op_of(p)->name, p->beta_mean, p->beta_square);
}

void adam_draw(rng *r, braid_problem *p) {
    update_draw(r, p);
    p->beta_mean = update_draw_share(r, 0.9);
    p->beta_square = update_draw_share(r, 0.999);
    p->eps = update_draw_eps(r);
}
