/*
 * bn_norm: the statistics of a batch and the normalisation behind them as one op, when training. It equals bn_prepare,
 * and then
 *
 *   act=f     bn_act's forward pass:            y = f(x * scale + shift)
 *   add1      bn_add_act's, with act=relu:      y = relu(x * scale + shift + z); with zn1, z * zscale + zshift for z
 *
 * With skip=k, the first k planes have statistics alone, and y and what is added to it begin with the plane behind
 * them. With zn2, those k planes are the residuals of the k others, and both halves count their batches apart; a sample
 * of y is blanked by the mask of its x alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int is_own(const braid_problem *p) { return p->residual_norm == BN_NORM_OWN_RESIDUALS; }

int bn_norm_first(const braid_problem *p, int slot) { return slot >= BN_NORM_Y ? p->skip : 0; }

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case BN_PREPARE_MASK: return p->mask ? p->streams : 0;
        case BN_PREPARE_BATCHES: return is_own(p) ? 2 : 1;
        case BN_NORM_Z: return p->add && !is_own(p) ? p->streams - p->skip : 0;
        case BN_NORM_ZSCALE:
        case BN_NORM_ZSHIFT: return p->residual_norm == 1 ? p->streams - p->skip : 0;
        default: return p->streams - bn_norm_first(p, slot);
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int stream = bn_norm_first(p, slot) + i;
    switch (slot) {
        case BN_PREPARE_X:
        case BN_NORM_Y:
        case BN_NORM_Z: bn_shape_pixels(p, stream, out); break;
        case BN_PREPARE_MASK: shape_mask(p, out); break;
        case BN_PREPARE_BATCHES: shape_counter(out); break;
        default: bn_shape_channels(p, stream, out); break;
    }
}

static braid_status check_residuals(const braid_problem *p) {
    if (2 * p->skip != p->streams)
        return fail(BRAID_ERROR_ARGUMENT, "bn_norm: expected skip to be half of the %d planes with zn2, got %d",
                    p->streams, p->skip);
    for (int i = 0; i < p->skip; i++) {
        if (p->in_channels[i] != p->in_channels[p->skip + i] || p->in_pitch[i] != p->in_pitch[p->skip + i])
            return fail(BRAID_ERROR_ARGUMENT,
                        "bn_norm: expected as many channels in plane %d as in its residual, plane %d, with zn2",
                        p->skip + i, i);
    }
    return BRAID_OK;
}

static braid_status check(const braid_problem *p) {
    if (p->activation == BRAID_ACTIVATION_NONE || (p->add && p->activation != BRAID_ACTIVATION_RELU))
        return fail(BRAID_ERROR_ARGUMENT, "bn_norm: expected act=relu%s, got another activation",
                    p->add ? " with add1" : ", gelu or gelu_tanh");
    if (p->residual_norm && !p->add)
        return fail(BRAID_ERROR_ARGUMENT, "bn_norm: expected add1 with zn%d, got add0", p->residual_norm);
    if (p->skip >= p->streams)
        return fail(BRAID_ERROR_ARGUMENT, "bn_norm: expected skip below the %d planes, got %d", p->streams, p->skip);
    if (is_own(p)) TRY(check_residuals(p));
    return bn_check_train(p);
}

static double flops(const braid_problem *p) {
    const double act = p->activation == BRAID_ACTIVATION_RELU ? 1 : 16;
    return (5 + act + p->add + 2 * (p->residual_norm > 0)) * shape_total(p);
}

static int64_t work(const braid_problem *p) { return 2 * bn_terms(p); }

/* The statistics of planes first to first + count - 1, whose batches are counted in plane `batches`. */
static void add_prepare(op_chain *c, const braid_problem *p, int first, int count, int batches) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_PREPARE, BRAID_PASS_FWD);
    bn_narrow(&s->problem, first, count);
    for (int slot = BN_PREPARE_X; slot <= BN_PREPARE_SHIFT; slot++) {
        s->place[slot] = slot;
        s->from[slot] = slot == BN_PREPARE_BATCHES ? batches : first;
    }
}

static void place(chain_step *s, int slot, int at, int from) {
    s->place[slot] = at;
    s->from[slot] = from;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    if (is_own(p)) add_prepare(c, p, 0, p->skip, 0);
    add_prepare(c, p, is_own(p) ? p->skip : 0, is_own(p) ? p->skip : p->streams, is_own(p));
    chain_step *s = chain_add(c, p, p->add ? BRAID_OP_BN_ADD_ACT : BRAID_OP_BN_ACT, BRAID_PASS_FWD);
    bn_narrow(&s->problem, p->skip, p->streams - p->skip);
    s->problem.residual_norm = p->residual_norm > 0;
    place(s, BN_FUSED_X, BN_PREPARE_X, p->skip);
    place(s, BN_FUSED_SCALE, BN_PREPARE_SCALE, p->skip);
    place(s, BN_FUSED_SHIFT, BN_PREPARE_SHIFT, p->skip);
    place(s, BN_FUSED_MASK, BN_PREPARE_MASK, p->skip);
    place(s, BN_FUSED_Y, BN_NORM_Y, 0);
    place(s, BN_FUSED_Z, is_own(p) ? (int)BN_PREPARE_X : (int)BN_NORM_Z, 0);
    place(s, BN_FUSED_ZSCALE, is_own(p) ? (int)BN_PREPARE_SCALE : (int)BN_NORM_ZSCALE, 0);
    place(s, BN_FUSED_ZSHIFT, is_own(p) ? (int)BN_PREPARE_SHIFT : (int)BN_NORM_ZSHIFT, 0);
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->add = draw_chance(r, 60);
    p->activation = p->add || draw_chance(r, 60) ? BRAID_ACTIVATION_RELU : (braid_activation)rng_between(r, 1, 2);
    if (p->streams > 1 && draw_chance(r, 50)) p->skip = (int)rng_between(r, 1, p->streams - 1);
    if (p->add && draw_chance(r, 40)) p->residual_norm = 1;
    bn_draw_average(r, p);
    bn_draw(r, p);
    if (p->add && p->streams % 2 == 0 && draw_chance(r, 50)) {
        p->skip = p->streams / 2;
        p->residual_norm = BN_NORM_OWN_RESIDUALS;
        for (int i = 0; i < p->skip; i++) {
            p->in_channels[p->skip + i] = p->in_channels[i];
            p->in_pitch[p->skip + i] = p->in_pitch[i];
        }
    }
    bn_draw_few(p);
}

const op_info op_bn_norm = {
    .name = "bn_norm",
    .summary = "statistics of a batch, normalise and activate",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(avg) | FIELD_BIT(each) | FIELD_BIT(eps) | FIELD_BIT(mom) | FIELD_BIT(act) |
              FIELD_BIT(add) | FIELD_BIT(zn) | FIELD_BIT(skip),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_PREPARE_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_PREPARE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_PREPARE_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_PREPARE_BETA] = {"beta", FILL_SIGNED, {ROLE_IN}},
            [BN_PREPARE_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT}},
            [BN_PREPARE_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT}},
            [BN_PREPARE_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT}},
            [BN_PREPARE_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT}},
            [BN_PREPARE_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT}},
            [BN_PREPARE_SCALE] = {"scale", FILL_SIGNED, {ROLE_OUT}},
            [BN_PREPARE_SHIFT] = {"shift", FILL_SIGNED, {ROLE_OUT}},
            [BN_NORM_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
            [BN_NORM_Z] = {"z", FILL_SIGNED, {ROLE_IN}},
            [BN_NORM_ZSCALE] = {"zscale", FILL_SIGNED, {ROLE_IN}},
            [BN_NORM_ZSHIFT] = {"zshift", FILL_SIGNED, {ROLE_IN}},
        },
    .check = check,
    .check_active = bn_check_active,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = bn_terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = shrink_pixels,
};
