/*
 * bn_finalize: from statistics to what the other passes need, for every channel.
 *
 *   train: center = mean, rstd = 1 / sqrt(var + eps); the running statistics move towards mean and the
 *          unbiased variance var * m / (m - 1), where m counts the active values of the stream, by
 *          momentum or, with avg=cumulative, by 1 / (batches + 1); batches (one for the layer) += 1.
 *          With each=1 stream i finds batches + i there, and batches += n: as if one call followed another.
 *          A stream without an active sample leaves its running statistics alone.
 *   eval:  center and rstd come from the running statistics; nothing is updated; mean and var are ignored.
 *   both:  scale = gamma * rstd, shift = beta - center * scale, so that y = x * scale + shift.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    if (slot == BN_FINALIZE_BATCHES) return 1;
    return slot == BN_FINALIZE_MASK && !p->mask ? 0 : p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_FINALIZE_MASK: shape_mask(p, out); break;
        case BN_FINALIZE_BATCHES: shape_counter(out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) {
    double channels = 0;
    for (int i = 0; i < p->streams; i++) channels += (double)p->in_channels[i];
    return 12 * channels;
}

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 4;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 70) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    p->average = draw_chance(r, 70) ? BRAID_AVERAGE_EXPONENTIAL : BRAID_AVERAGE_CUMULATIVE;
    p->eps = draw_chance(r, 50) ? 1e-5 : 1e-3;
    p->momentum = draw_chance(r, 50) ? 0.1 : 0.01 * (double)rng_between(r, 1, 99);
    bn_draw(r, p);
}

const op_info op_bn_finalize = {
    .name = "bn_finalize",
    .summary = "scale, shift and running statistics of every channel",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(mask) | FIELD_BIT(phase) |
              FIELD_BIT(avg) | FIELD_BIT(each) | FIELD_BIT(eps) | FIELD_BIT(mom),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_FINALIZE_MEAN] = {"mean", FILL_SIGNED, {ROLE_IN}},
            [BN_FINALIZE_VAR] = {"var", FILL_POSITIVE, {ROLE_IN}},
            [BN_FINALIZE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_FINALIZE_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [BN_FINALIZE_BETA] = {"beta", FILL_SIGNED, {ROLE_IN}},
            [BN_FINALIZE_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT}},
            [BN_FINALIZE_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT}},
            [BN_FINALIZE_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT}},
            [BN_FINALIZE_SCALE] = {"scale", FILL_SIGNED, {ROLE_OUT}},
            [BN_FINALIZE_SHIFT] = {"shift", FILL_SIGNED, {ROLE_OUT}},
            [BN_FINALIZE_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT}},
            [BN_FINALIZE_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT}},
        },
    .check = bn_check_train,
    .check_active = bn_check_active,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
