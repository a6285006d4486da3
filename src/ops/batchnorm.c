/*
 * batchnorm: a whole layer of batch normalisation as one op.
 *
 *   fwd:      bn_stats (when training), bn_finalize, bn_apply: y, the running statistics, and center and rstd for the
 *             backward pass
 *   bwd_data: bn_sums and bn_dapply: dgamma, dbeta and dx
 *
 * The rules of those ops hold: statistics over the active samples of each stream, blanked samples give exact zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    if (slot == BATCHNORM_BATCHES) return 1;
    return slot == BATCHNORM_MASK && !p->mask ? 0 : p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BATCHNORM_X:
        case BATCHNORM_Y:
        case BATCHNORM_DY:
        case BATCHNORM_DX: bn_shape_pixels(p, i, out); break;
        case BATCHNORM_MASK: shape_mask(p, out); break;
        case BATCHNORM_BATCHES: shape_counter(out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return (p->pass == BRAID_PASS_FWD ? 6 : 9) * shape_total(p); }

static void add_forward(op_chain *c, const braid_problem *p) {
    int train = p->phase == BRAID_PHASE_TRAIN;
    if (train) {
        chain_step *stats = chain_add(c, p, BRAID_OP_BN_STATS, BRAID_PASS_FWD);
        stats->place[BN_STATS_X] = BATCHNORM_X;
        stats->place[BN_STATS_MASK] = BATCHNORM_MASK;
        stats->place[BN_STATS_MEAN] = CHAIN_TEMP(0);
        stats->place[BN_STATS_VAR] = CHAIN_TEMP(1);
    }
    chain_step *s = chain_add(c, p, BRAID_OP_BN_FINALIZE, BRAID_PASS_FWD);
    s->place[BN_FINALIZE_MEAN] = train ? CHAIN_TEMP(0) : BATCHNORM_RUNNING_MEAN; /* not read when evaluating */
    s->place[BN_FINALIZE_VAR] = train ? CHAIN_TEMP(1) : BATCHNORM_RUNNING_VAR;
    s->place[BN_FINALIZE_MASK] = BATCHNORM_MASK;
    s->place[BN_FINALIZE_GAMMA] = BATCHNORM_GAMMA;
    s->place[BN_FINALIZE_BETA] = BATCHNORM_BETA;
    s->place[BN_FINALIZE_RUNNING_MEAN] = BATCHNORM_RUNNING_MEAN;
    s->place[BN_FINALIZE_RUNNING_VAR] = BATCHNORM_RUNNING_VAR;
    s->place[BN_FINALIZE_BATCHES] = BATCHNORM_BATCHES;
    s->place[BN_FINALIZE_SCALE] = CHAIN_TEMP(2);
    s->place[BN_FINALIZE_SHIFT] = CHAIN_TEMP(3);
    s->place[BN_FINALIZE_CENTER] = BATCHNORM_CENTER;
    s->place[BN_FINALIZE_RSTD] = BATCHNORM_RSTD;
    s = chain_add(c, p, BRAID_OP_BN_APPLY, BRAID_PASS_FWD);
    s->place[BN_APPLY_X] = BATCHNORM_X;
    s->place[BN_APPLY_SCALE] = CHAIN_TEMP(2);
    s->place[BN_APPLY_SHIFT] = CHAIN_TEMP(3);
    s->place[BN_APPLY_MASK] = BATCHNORM_MASK;
    s->place[BN_APPLY_Y] = BATCHNORM_Y;
}

static void add_backward(op_chain *c, const braid_problem *p) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_SUMS, BRAID_PASS_FWD);
    s->place[BN_SUMS_X] = BATCHNORM_X;
    s->place[BN_SUMS_DY] = BATCHNORM_DY;
    s->place[BN_SUMS_CENTER] = BATCHNORM_CENTER;
    s->place[BN_SUMS_RSTD] = BATCHNORM_RSTD;
    s->place[BN_SUMS_MASK] = BATCHNORM_MASK;
    s->place[BN_SUMS_DGAMMA] = BATCHNORM_DGAMMA;
    s->place[BN_SUMS_DBETA] = BATCHNORM_DBETA;
    s = chain_add(c, p, BRAID_OP_BN_DAPPLY, BRAID_PASS_FWD);
    s->place[BN_DAPPLY_X] = BATCHNORM_X;
    s->place[BN_DAPPLY_DY] = BATCHNORM_DY;
    s->place[BN_DAPPLY_CENTER] = BATCHNORM_CENTER;
    s->place[BN_DAPPLY_RSTD] = BATCHNORM_RSTD;
    s->place[BN_DAPPLY_GAMMA] = BATCHNORM_GAMMA;
    s->place[BN_DAPPLY_DGAMMA] = BATCHNORM_DGAMMA;
    s->place[BN_DAPPLY_DBETA] = BATCHNORM_DBETA;
    s->place[BN_DAPPLY_MASK] = BATCHNORM_MASK;
    s->place[BN_DAPPLY_DX] = BATCHNORM_DX;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    if (p->pass == BRAID_PASS_FWD) {
        add_forward(c, p);
    } else {
        add_backward(c, p);
    }
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 75) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    bn_draw_average(r, p);
    bn_draw(r, p);
    bn_draw_few(p);
}

const op_info op_batchnorm = {
    .name = "batchnorm",
    .summary = "a whole layer of batch normalisation",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase) | FIELD_BIT(avg) | FIELD_BIT(eps) | FIELD_BIT(mom),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BATCHNORM_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [BATCHNORM_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN}},
            [BATCHNORM_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [BATCHNORM_BETA] = {"beta", FILL_SIGNED, {ROLE_IN, ROLE_NONE}},
            [BATCHNORM_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT, ROLE_NONE}},
            [BATCHNORM_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT, ROLE_NONE}},
            [BATCHNORM_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT, ROLE_NONE}},
            [BATCHNORM_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT, ROLE_IN}},
            [BATCHNORM_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT, ROLE_IN}},
            [BATCHNORM_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_NONE}},
            [BATCHNORM_DY] = {"dy", FILL_SIGNED, {ROLE_NONE, ROLE_IN}},
            [BATCHNORM_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
            [BATCHNORM_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
            [BATCHNORM_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
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
