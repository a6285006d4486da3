/*
 * bn_dapply: the gradient of the input of batch normalisation.
 *
 *   train: dx = gamma * rstd * (dy - dbeta / m - (x - center) * rstd * dgamma / m), m = active values of the stream
 *   eval:  dx = gamma * rstd * dy
 *
 * Blanked samples give exact zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) { return slot == BN_DAPPLY_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_DAPPLY_X:
        case BN_DAPPLY_DY:
        case BN_DAPPLY_DX: bn_shape_pixels(p, i, out); break;
        case BN_DAPPLY_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return (p->phase == BRAID_PHASE_TRAIN ? 5 : 1) * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 4;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 75) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    bn_draw(r, p);
}

const op_info op_bn_dapply = {
    .name = "bn_dapply",
    .summary = "gradient of the normalised input",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_DAPPLY_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [BN_DAPPLY_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_IN}},
            [BN_DAPPLY_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_DAPPLY_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = bn_check_train,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
