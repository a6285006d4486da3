/*
 * integrate_bn_stats: LINet's learned mix, and what a batch normalisation of the streams and of the mix needs when
 * training: integrate, then bn_stats_finalize of r_i (planes 0 to n-1) and y (plane n). Statistics are those of y as it
 * is stored. A stream's mask blanks its samples in both; those of y are all active.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case INTEGRATE_Z:
        case INTEGRATE_W: return p->integrated_in > 0;
        case INTEGRATE_BIAS: return p->bias;
        case INTEGRATE_MASK: return p->mask ? p->streams : 0;
        case INTEGRATE_R:
        case INTEGRATE_V: return p->streams;
        case INTEGRATE_Y:
        case INTEGRATE_BN_STATS_BATCHES: return 1;
        default: return p->streams + 1;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    if (slot <= INTEGRATE_Y) {
        op_find(BRAID_OP_INTEGRATE)->shape(p, slot, i, out);
    } else if (slot == INTEGRATE_BN_STATS_BATCHES) {
        shape_counter(out);
    } else {
        shape_statistics(p, i < p->streams ? p->in_channels[i] : p->integrated_out, out);
    }
}

static int64_t pixels(const braid_problem *p) { return p->batch * integrate_out_size(p, 0) * integrate_out_size(p, 1); }

static int64_t channels(const braid_problem *p) {
    int64_t sum = p->integrated_in;
    for (int i = 0; i < p->streams; i++) sum += p->in_channels[i];
    return sum;
}

static double flops(const braid_problem *p) {
    double mixed = (double)channels(p) * (double)p->integrated_out;
    double normed = (double)(channels(p) - p->integrated_in + p->integrated_out);
    return (double)pixels(p) * (2 * mixed + 3 * normed);
}

static int64_t terms(const braid_problem *p) { return channels(p) + 1; }

static int64_t work(const braid_problem *p) { return pixels(p) > terms(p) ? pixels(p) : terms(p); }

static braid_status check_values(const braid_problem *p, int i, int64_t samples) {
    if (samples * integrate_out_size(p, 0) * integrate_out_size(p, 1) != 1) return BRAID_OK;
    return fail_with(
        BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
        "integrate_bn_stats: expected more than 1 value per channel, got 1 in stream %d (1 active sample of 1x1)", i);
}

static braid_status check(const braid_problem *p) { return check_values(p, 0, p->batch); }

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *s = chain_add(c, p, BRAID_OP_INTEGRATE, BRAID_PASS_FWD);
    for (int slot = INTEGRATE_R; slot <= INTEGRATE_Y; slot++) s->place[slot] = slot;
    s = chain_add(c, p, BRAID_OP_BN_STATS_FINALIZE, BRAID_PASS_FWD);
    s->problem.streams = p->streams + 1;
    s->problem.in_channels[p->streams] = s->problem.in_pitch[p->streams] = p->integrated_out;
    for (int axis = 0; axis < 2; axis++) s->problem.size[axis] = integrate_out_size(p, axis);
    s->place[BN_STATS_FINALIZE_X] = INTEGRATE_R;
    s->last[BN_STATS_FINALIZE_X] = INTEGRATE_Y;
    s->place[BN_STATS_FINALIZE_MASK] = INTEGRATE_MASK;
    s->last[BN_STATS_FINALIZE_MASK] = CHAIN_NOWHERE;
    for (int slot = BN_STATS_FINALIZE_GAMMA; slot <= BN_STATS_FINALIZE_SHIFT; slot++)
        s->place[slot] = slot - BN_STATS_FINALIZE_GAMMA + INTEGRATE_BN_STATS_GAMMA;
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    op_find(BRAID_OP_INTEGRATE)->draw(r, p);
    bn_draw_average(r, p);
    if (pixels(p) < 2) p->batch = 2;
}

static void shrink(braid_problem *p) { op_find(BRAID_OP_INTEGRATE)->shrink(p); }

const op_info op_integrate_bn_stats = {
    .name = "integrate_bn_stats",
    .summary = "learned mix, and statistics, scale and shift of all streams and of it",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(st) | FIELD_BIT(bias) |
              FIELD_BIT(mask) | FIELD_BIT(avg) | FIELD_BIT(eps) | FIELD_BIT(mom) | FIELD_BIT(zi) | FIELD_BIT(zo) |
              FIELD_BIT(cp) | FIELD_BIT(tf32),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_STREAMS,
    .stored = INTEGRATE_Y,
    .operands =
        {
            [INTEGRATE_R] = {"r", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_Z] = {"z", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_V] = {"v", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [INTEGRATE_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
            [INTEGRATE_BN_STATS_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_STATS_BETA] = {"beta", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_STATS_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT}},
            [INTEGRATE_BN_STATS_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT}},
            [INTEGRATE_BN_STATS_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT}},
            [INTEGRATE_BN_STATS_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT}},
            [INTEGRATE_BN_STATS_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT}},
            [INTEGRATE_BN_STATS_SCALE] = {"scale", FILL_SIGNED, {ROLE_OUT}},
            [INTEGRATE_BN_STATS_SHIFT] = {"shift", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .check_active = check_values,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = shrink,
};
