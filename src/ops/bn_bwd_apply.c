/*
 * bn_bwd_apply: the gradient of the input of batch normalisation.
 *
 *   train: dx = gamma * rstd * (dy - dbeta / m - (x - center) * rstd * dgamma / m), m = active values of the stream
 *   eval:  dx = gamma * rstd * dy
 *
 * Blanked samples give exact zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) { return slot == BN_BWD_APPLY_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_BWD_APPLY_X:
        case BN_BWD_APPLY_DY:
        case BN_BWD_APPLY_DX: bn_shape_pixels(p, i, out); break;
        case BN_BWD_APPLY_MASK: shape_mask(p, out); break;
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

const op_info op_bn_bwd_apply = {
    .name = "bn_bwd_apply",
    .summary = "gradient of the normalised input",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_BWD_APPLY_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [BN_BWD_APPLY_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_APPLY_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_BWD_APPLY_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = bn_check_train,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
