/*
 * bn_act_pool: y = maxpool(f(x * scale + shift)), what follows a network's first convolution, in one pass: the
 * full-size activation is never stored. The rules of maxpool hold (the first of equal values, padding is
 * minus infinity); blanked samples give exact zeros. Backward, everything is made again from x:
 *
 *   g = (the sum of dy over the windows that took the value) * f'(x * scale + shift)
 *   bwd_weight: dbeta = sum g, dgamma = sum g * (x - center) * rstd      (bn_bwd_reduce of g)
 *   bwd_data:   dx from g, dgamma and dbeta as bn_bwd_apply gives it
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    bn_fused_shape(p, slot, i, out_size, out);
}

static braid_status check(const braid_problem *p) {
    TRY(op_check_activation(p, ""));
    TRY(maxpool_check(p));
    return p->pass == BRAID_PASS_BWD_DATA ? bn_check_train(p) : BRAID_OK;
}

static double flops(const braid_problem *p) {
    double act = p->activation == BRAID_ACTIVATION_RELU ? 1 : 16;
    return (act + (p->pass == BRAID_PASS_FWD ? 4 : 10)) * shape_total(p);
}

static int64_t window(const braid_problem *p) { return p->filter[0] * p->filter[1]; }

static int64_t terms(const braid_problem *p) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return bn_terms(p);
    return p->pass == BRAID_PASS_FWD ? 8 : 8 + window(p);
}

static int64_t work(const braid_problem *p) {
    if (p->pass == BRAID_PASS_FWD) return 8 * window(p);
    return (p->pass == BRAID_PASS_BWD_WEIGHT ? bn_terms(p) : 1) * 8 * window(p) * window(p);
}

static const char *steps(const braid_problem *p, op_chain *c) {
    if (p->mask && (p->dilation[0] > 1 || p->dilation[1] > 1))
        return "a window with all its places in the padding would not be blanked";
    if (p->pass != BRAID_PASS_FWD && p->dtype != BRAID_DTYPE_F32 && p->dtype != BRAID_DTYPE_F64)
        return "rounding before the pooling would move the maximum";
    bn_chain_apply(c, p, CHAIN_TEMP(0));
    bn_chain_act(c, p, CHAIN_TEMP(0), CHAIN_TEMP(1));
    if (p->pass == BRAID_PASS_FWD) {
        chain_step *s = chain_add(c, p, BRAID_OP_MAXPOOL, BRAID_PASS_FWD);
        s->place[MAXPOOL_X] = CHAIN_TEMP(1);
        s->place[MAXPOOL_Y] = BN_FUSED_Y;
        return NULL;
    }
    chain_step *s = chain_add(c, p, BRAID_OP_MAXPOOL, BRAID_PASS_BWD_DATA);
    s->place[MAXPOOL_X] = CHAIN_TEMP(1);
    s->place[MAXPOOL_Y] = BN_FUSED_DY;
    s->place[MAXPOOL_DX] = CHAIN_TEMP(2);
    bn_chain_act_gradient(c, p, CHAIN_TEMP(0), CHAIN_TEMP(2), CHAIN_TEMP(3));
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        bn_chain_sums(c, p, CHAIN_TEMP(3));
    } else {
        bn_chain_bwd_apply(c, p, CHAIN_TEMP(3));
    }
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 75) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    p->activation = draw_activation(r, 70, 0);
    maxpool_draw(r, p);
    while (shape_total(p) > DRAW_ELEMENTS / 8 && p->batch > 1) p->batch--;
    if (p->phase == BRAID_PHASE_TRAIN && bn_terms(p) < 2) p->batch = 2;
}

const op_info op_bn_act_pool = {
    .name = "bn_act_pool",
    .summary = "normalise, activate and take the largest of every window",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase) | FIELD_BIT(act) | FIELD_BIT(rs) | FIELD_BIT(st) | FIELD_BIT(pad) |
              FIELD_BIT(dil) | FIELD_BIT(ceil),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands = {BN_FUSED_OPERANDS},
    .check = check,
    .planes = bn_fused_planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = maxpool_shrink,
};
