/*
 * balance: how unequal the streams' contributions x_i [B][H][W][C_i] to a mix are. With n_i the L2 norm of the
 * whole plane and l_i = log(n_i + 1e-8),
 *
 *   loss = unbiased variance of l_i = 1/(n-1) sum over i of (l_i - mean l)^2
 *
 * for two streams or more. The forward pass also gives the norms, and the gradient reads them:
 * dx_i = dloss 2/(n-1) (l_i - mean l) / (n_i + 1e-8) x_i / n_i, and 0 where n_i = 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static braid_status check(const braid_problem *p) {
    if (p->streams >= 2) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "balance: expected n (streams) of 2 or more, got %d", p->streams);
}

static int planes(const braid_problem *p, int slot) { return slot == BALANCE_X || slot == BALANCE_DX ? p->streams : 1; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BALANCE_NORMS: shape_statistics(p, p->streams, out); break;
        case BALANCE_LOSS: shape_statistics(p, 1, out); break;
        default: shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out); break;
    }
}

static double flops(const braid_problem *p) { return (p->pass == BRAID_PASS_FWD ? 2 : 1) * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    double total = shape_total(p);
    return p->pass == BRAID_PASS_FWD && total > 1 ? (int64_t)total : 1;
}

static void draw(rng *r, braid_problem *p) {
    while (p->streams < 2) p->in_channels[p->streams++] = draw_size(r, 48);
    draw_pixels(r, p);
}

const op_info op_balance = {
    .name = "balance",
    .summary = "variance of the log norms of the streams' contributions",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BALANCE_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [BALANCE_NORMS] = {"norms", FILL_POSITIVE, {ROLE_OUT, ROLE_IN}},
            [BALANCE_LOSS] = {"loss", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
            [BALANCE_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
