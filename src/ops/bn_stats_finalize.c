/*
 * bn_stats_finalize: the statistics of a batch and what follows from them, when training: bn_stats and bn_finalize. Its
 * outputs are those of bn_finalize; mean and variance are center and what rstd is made from, so nobody else needs them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    if (slot == BN_STATS_FINALIZE_BATCHES) return 1;
    return slot == BN_STATS_FINALIZE_MASK && !p->mask ? 0 : p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_STATS_FINALIZE_X: bn_shape_pixels(p, i, out); break;
        case BN_STATS_FINALIZE_MASK: shape_mask(p, out); break;
        case BN_STATS_FINALIZE_BATCHES: shape_counter(out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return 3 * shape_total(p); }

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_STATS, BRAID_PASS_FWD);
    s->place[BN_STATS_X] = BN_STATS_FINALIZE_X;
    s->place[BN_STATS_MASK] = BN_STATS_FINALIZE_MASK;
    s->place[BN_STATS_MEAN] = CHAIN_TEMP(0);
    s->place[BN_STATS_VAR] = CHAIN_TEMP(1);
    s = chain_add(c, p, BRAID_OP_BN_FINALIZE, BRAID_PASS_FWD);
    s->place[BN_FINALIZE_MEAN] = CHAIN_TEMP(0);
    s->place[BN_FINALIZE_VAR] = CHAIN_TEMP(1);
    s->place[BN_FINALIZE_MASK] = BN_STATS_FINALIZE_MASK;
    s->place[BN_FINALIZE_GAMMA] = BN_STATS_FINALIZE_GAMMA;
    s->place[BN_FINALIZE_BETA] = BN_STATS_FINALIZE_BETA;
    s->place[BN_FINALIZE_RUNNING_MEAN] = BN_STATS_FINALIZE_RUNNING_MEAN;
    s->place[BN_FINALIZE_RUNNING_VAR] = BN_STATS_FINALIZE_RUNNING_VAR;
    s->place[BN_FINALIZE_BATCHES] = BN_STATS_FINALIZE_BATCHES;
    s->place[BN_FINALIZE_SCALE] = BN_STATS_FINALIZE_SCALE;
    s->place[BN_FINALIZE_SHIFT] = BN_STATS_FINALIZE_SHIFT;
    s->place[BN_FINALIZE_CENTER] = BN_STATS_FINALIZE_CENTER;
    s->place[BN_FINALIZE_RSTD] = BN_STATS_FINALIZE_RSTD;
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    bn_draw_average(r, p);
    bn_draw(r, p);
    while (shape_total(p) > DRAW_ELEMENTS / 4 && p->batch > 2) p->batch--;
}

const op_info op_bn_stats_finalize = {
    .name = "bn_stats_finalize",
    .summary = "statistics of a batch, and scale and shift from them",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(avg) | FIELD_BIT(each) | FIELD_BIT(eps) | FIELD_BIT(mom),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_STATS_FINALIZE_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_STATS_FINALIZE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_STATS_FINALIZE_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_STATS_FINALIZE_BETA] = {"beta", FILL_SIGNED, {ROLE_IN}},
            [BN_STATS_FINALIZE_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT}},
            [BN_STATS_FINALIZE_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT}},
            [BN_STATS_FINALIZE_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT}},
            [BN_STATS_FINALIZE_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT}},
            [BN_STATS_FINALIZE_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT}},
            [BN_STATS_FINALIZE_SCALE] = {"scale", FILL_SIGNED, {ROLE_OUT}},
            [BN_STATS_FINALIZE_SHIFT] = {"shift", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = bn_check_train,
    .check_active = bn_check_active,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = bn_terms,
    .chain = steps,
    .draw = draw,
    .shrink = shrink_pixels,
};
