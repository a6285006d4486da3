/*
 * bn_grad: both backward passes of a normalisation in training as one op. By the value of g, the gradient of the
 * normalised value, it equals two passes of
 *
 *   act=none  bn_sums, then bn_dapply:          g = dy
 *   act=f     bn_act's bwd_weight, bwd_data:    g = dy * f'(x * scale + shift)
 *   add1      bn_add_act's, with act=relu:      g = y > 0 ? dy : 0, and dz = g
 *
 *   dbeta = sum g, dgamma = sum g * (x - center) * rstd, and dx from g, dgamma and dbeta as bn_dapply gives it
 *
 * Some planes need one of the passes alone: with given=k, dgamma and dbeta of the first k planes are inputs, and with
 * skip=k the first k planes have no dx. Operands that the first planes do without begin with the plane behind them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int is_activated(const braid_problem *p) { return !p->add && p->activation != BRAID_ACTIVATION_NONE; }

int bn_grad_first(const braid_problem *p, int slot) {
    switch (slot) {
        case BN_GRAD_DGAMMA:
        case BN_GRAD_DBETA: return p->given;
        case BN_GRAD_GAMMA:
        case BN_GRAD_DX:
        case BN_GRAD_DZ: return p->skip;
        default: return 0;
    }
}

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case BN_GRAD_MASK: return p->mask ? p->streams : 0;
        case BN_GRAD_SCALE:
        case BN_GRAD_SHIFT: return is_activated(p) ? p->streams : 0;
        case BN_GRAD_Y: return p->add ? p->streams : 0;
        case BN_GRAD_DZ: return p->add ? p->streams - p->skip : 0;
        case BN_GRAD_GIVEN_DGAMMA:
        case BN_GRAD_GIVEN_DBETA: return p->given;
        default: return p->streams - bn_grad_first(p, slot);
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int stream = bn_grad_first(p, slot) + i;
    switch (slot) {
        case BN_GRAD_X:
        case BN_GRAD_Y:
        case BN_GRAD_DY:
        case BN_GRAD_DX:
        case BN_GRAD_DZ: bn_shape_pixels(p, stream, out); break;
        case BN_GRAD_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, stream, out); break;
    }
}

static braid_status check(const braid_problem *p) {
    if (p->add && p->activation != BRAID_ACTIVATION_RELU)
        return fail(BRAID_ERROR_ARGUMENT,
                    "bn_grad: expected act=relu with add1, whose gradient can be read off y, got another activation");
    if (p->given && p->skip)
        return fail(BRAID_ERROR_ARGUMENT, "bn_grad: expected given or skip, got given%d and skip%d", p->given, p->skip);
    if (p->given + p->skip >= p->streams)
        return fail(BRAID_ERROR_ARGUMENT, "bn_grad: expected %s below the %d planes, which have both passes, got %d",
                    p->given ? "given" : "skip", p->streams, p->given + p->skip);
    return bn_check_train(p);
}

static double flops(const braid_problem *p) {
    double act = !is_activated(p) ? 1 : p->activation == BRAID_ACTIVATION_RELU ? 2 : 16;
    return (2 * act + 9) * shape_total(p);
}

static int64_t work(const braid_problem *p) { return 3 * bn_terms(p); }

/* A pass of planes first to first + count - 1. */
static void add_pass(op_chain *c, const braid_problem *p, braid_pass pass, int first, int count) {
    if (!p->add && !is_activated(p)) {
        (pass == BRAID_PASS_BWD_DATA ? bn_chain_dapply : bn_chain_sums)(c, p, BN_FUSED_DY);
    } else {
        chain_step *s = chain_add(c, p, p->add ? BRAID_OP_BN_ADD_ACT : BRAID_OP_BN_ACT, pass);
        for (int slot = BN_FUSED_X; slot <= BN_FUSED_DX; slot++) s->place[slot] = slot;
        s->place[BN_FUSED_DZ] = BN_GRAD_DZ;
    }
    chain_step *s = &c->steps[c->count - 1];
    bn_narrow(&s->problem, first, count);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        if (first < p->given && s->place[slot] == BN_GRAD_DGAMMA) s->place[slot] = BN_GRAD_GIVEN_DGAMMA;
        if (first < p->given && s->place[slot] == BN_GRAD_DBETA) s->place[slot] = BN_GRAD_GIVEN_DBETA;
        s->from[slot] = first - bn_grad_first(p, s->place[slot]);
    }
}

static const char *steps(const braid_problem *p, op_chain *c) {
    const int both = p->given > p->skip ? p->given : p->skip;
    add_pass(c, p, BRAID_PASS_BWD_WEIGHT, p->given, p->streams - p->given);
    if (p->given) add_pass(c, p, BRAID_PASS_BWD_DATA, 0, p->given);
    add_pass(c, p, BRAID_PASS_BWD_DATA, both, p->streams - both);
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->activation = draw_chance(r, 60) ? BRAID_ACTIVATION_RELU : (braid_activation)rng_between(r, 1, 3);
    p->add = p->activation == BRAID_ACTIVATION_RELU && draw_chance(r, 60);
    const int some = p->streams > 1 && draw_chance(r, 50) ? (int)rng_between(r, 1, p->streams - 1) : 0;
    *(draw_chance(r, 50) ? &p->given : &p->skip) = some;
    bn_draw(r, p);
    bn_draw_few(p);
}

const op_info op_bn_grad = {
    .name = "bn_grad",
    .summary = "both backward passes of a normalisation",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(act) | FIELD_BIT(add) | FIELD_BIT(given) | FIELD_BIT(skip),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_GRAD_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_GRAD_Y] = {"y", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [BN_GRAD_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_OUT}},
            [BN_GRAD_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_OUT}},
            [BN_GRAD_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
            [BN_GRAD_DZ] = {"dz", FILL_SIGNED, {ROLE_OUT}},
            [BN_GRAD_GIVEN_DGAMMA] = {"given_dgamma", FILL_SIGNED, {ROLE_IN}},
            [BN_GRAD_GIVEN_DBETA] = {"given_dbeta", FILL_SIGNED, {ROLE_IN}},
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
