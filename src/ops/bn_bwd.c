/*
 * bn_bwd: both backward passes of a normalisation in training as one op. By the value of g, the gradient of the
 * normalised value, it equals two passes of
 *
 *   act=none  bn_bwd_reduce, then bn_bwd_apply:          g = dy
 *   act=f     bn_act's bwd_weight, bwd_data:    g = dy * f'(x * scale + shift)
 *   add1      bn_add_act's, with act=relu:      g = y > 0 ? dy : 0, and dz = g
 *
 *   dbeta = sum g, dgamma = sum g * (x - center) * rstd, and dx from g, dgamma and dbeta as bn_bwd_apply gives it
 *
 * Some planes need one of the passes alone: with given=k, dgamma and dbeta of the first k planes are inputs, and with
 * skip=k the first k planes have no dx. Operands that the first planes do without begin with the plane behind them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

#include <string.h>

static int is_activated(const braid_problem *p) { return !p->add && p->activation != BRAID_ACTIVATION_NONE; }

int bn_bwd_first(const braid_problem *p, int slot) {
    switch (slot) {
        case BN_BWD_DGAMMA:
        case BN_BWD_DBETA: return p->given;
        case BN_BWD_GAMMA:
        case BN_BWD_DX:
        case BN_BWD_DZ: return p->skip;
        default: return 0;
    }
}

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case BN_BWD_MASK: return p->mask ? p->streams : 0;
        case BN_BWD_SCALE:
        case BN_BWD_SHIFT: return is_activated(p) ? p->streams : 0;
        case BN_BWD_Y: return p->add ? p->streams : 0;
        case BN_BWD_DZ: return p->add ? p->streams - p->skip : 0;
        case BN_BWD_GIVEN_DGAMMA:
        case BN_BWD_GIVEN_DBETA: return p->given;
        default: return p->streams - bn_bwd_first(p, slot);
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int stream = bn_bwd_first(p, slot) + i;
    switch (slot) {
        case BN_BWD_X:
        case BN_BWD_Y:
        case BN_BWD_DY:
        case BN_BWD_DX:
        case BN_BWD_DZ: bn_shape_pixels(p, stream, out); break;
        case BN_BWD_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, stream, out); break;
    }
}

static braid_status check(const braid_problem *p) {
    if (p->add && p->activation != BRAID_ACTIVATION_RELU)
        return fail(BRAID_ERROR_ARGUMENT,
                    "bn_bwd: expected act=relu with add1, whose gradient can be read off y, got another activation");
    if (p->given && p->skip)
        return fail(BRAID_ERROR_ARGUMENT, "bn_bwd: expected given or skip, got given%d and skip%d", p->given, p->skip);
    if (p->given + p->skip >= p->streams)
        return fail(BRAID_ERROR_ARGUMENT, "bn_bwd: expected %s below the %d planes, which have both passes, got %d",
                    p->given ? "given" : "skip", p->streams, p->given + p->skip);
    return bn_check_train(p);
}

static double flops(const braid_problem *p) {
    double act = !is_activated(p) ? 1 : p->activation == BRAID_ACTIVATION_RELU ? 2 : 16;
    return (2 * act + 9) * shape_total(p);
}

static int64_t work(const braid_problem *p) { return 3 * bn_terms(p); }

/* Takes planes first to first + count - 1 of a problem. */
static void narrow(braid_problem *p, int first, int count) {
    memmove(p->in_channels, p->in_channels + first, (size_t)count * sizeof p->in_channels[0]);
    memmove(p->in_pitch, p->in_pitch + first, (size_t)count * sizeof p->in_pitch[0]);
    for (int i = count; i < BRAID_MAX_PLANES; i++) p->in_channels[i] = p->in_pitch[i] = 0;
    p->streams = count;
}

/* A pass of planes first to first + count - 1. */
static void add_pass(op_chain *c, const braid_problem *p, braid_pass pass, int first, int count) {
    if (!p->add && !is_activated(p)) {
        (pass == BRAID_PASS_BWD_DATA ? bn_chain_bwd_apply : bn_chain_sums)(c, p, BN_FUSED_DY);
    } else {
        chain_step *s = chain_add(c, p, p->add ? BRAID_OP_BN_ADD_ACT : BRAID_OP_BN_ACT, pass);
        for (int slot = BN_FUSED_X; slot <= BN_FUSED_DX; slot++) s->place[slot] = slot;
        s->place[BN_FUSED_DZ] = BN_BWD_DZ;
    }
    chain_step *s = &c->steps[c->count - 1];
    narrow(&s->problem, first, count);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        if (first < p->given && s->place[slot] == BN_BWD_DGAMMA) s->place[slot] = BN_BWD_GIVEN_DGAMMA;
        if (first < p->given && s->place[slot] == BN_BWD_DBETA) s->place[slot] = BN_BWD_GIVEN_DBETA;
        s->from[slot] = first - bn_bwd_first(p, s->place[slot]);
    }
}

static const char *steps(const braid_problem *p, op_chain *c) {
    const int both = p->given > p->skip ? p->given : p->skip;
    add_pass(c, p, BRAID_PASS_BWD_WEIGHT, p->given, p->streams - p->given);
    if (p->given) add_pass(c, p, BRAID_PASS_BWD_DATA, 0, p->given);
    add_pass(c, p, BRAID_PASS_BWD_DATA, both, p->streams - both);
    return NULL;
}

/* The planes of one pass may be the last ones of the other. */
static void of_steps(const braid_problem *const *steps, braid_problem *p) {
    const int summed = steps[0]->streams, made = steps[1]->streams;
    const braid_problem *more = summed > made ? steps[0] : steps[1];
    p->streams = more->streams;
    memcpy(p->in_channels, more->in_channels, sizeof p->in_channels);
    memcpy(p->in_pitch, more->in_pitch, sizeof p->in_pitch);
    p->given = made > summed ? made - summed : 0;
    p->skip = summed > made ? summed - made : 0;
}

/* Small, because the reference makes sums over all pixels anew for each of them. */
static void draw(rng *r, braid_problem *p) {
    p->activation = draw_activation(r, 60, 1);
    p->add = p->activation == BRAID_ACTIVATION_RELU && draw_chance(r, 60);
    const int some = p->streams > 1 && draw_chance(r, 50) ? (int)rng_between(r, 1, p->streams - 1) : 0;
    *(draw_chance(r, 50) ? &p->given : &p->skip) = some;
    bn_draw(r, p);
    while (shape_total(p) > DRAW_ELEMENTS / 16 && p->batch > 2) p->batch--;
    while (shape_total(p) > DRAW_ELEMENTS / 16 && (p->size[0] > 2 || p->size[1] > 2))
        p->size[p->size[0] < p->size[1]]--;
}

const op_info op_bn_bwd = {
    .name = "bn_bwd",
    .summary = "both backward passes of a normalisation",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(act) | FIELD_BIT(add) | FIELD_BIT(given) | FIELD_BIT(skip),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_BWD_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_BWD_Y] = {"y", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [BN_BWD_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_OUT}},
            [BN_BWD_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_OUT}},
            [BN_BWD_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
            [BN_BWD_DZ] = {"dz", FILL_SIGNED, {ROLE_OUT}},
            [BN_BWD_GIVEN_DGAMMA] = {"given_dgamma", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_GIVEN_DBETA] = {"given_dbeta", FILL_SIGNED, {ROLE_IN}},
        },
    .check = check,
    .check_active = bn_check_active,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = bn_terms,
    .chain = steps,
    .of_steps = of_steps,
    .work = work,
    .draw = draw,
    .shrink = shrink_pixels,
};
