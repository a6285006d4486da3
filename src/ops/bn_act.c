/*
 * bn_act: y = f(x * scale + shift), channel by channel: bn_apply and act in one pass over the pixels.
 * Blanked samples give exact zeros. Backward, the value before the activation is made again from x:
 *
 *   g = dy * f'(x * scale + shift)
 *   bwd_weight: dbeta = sum g, dgamma = sum g * (x - center) * rstd      (bn_bwd_reduce of g)
 *   bwd_data:   dx from g, dgamma and dbeta as bn_bwd_apply gives it
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    bn_fused_shape(p, slot, i, p->size, out);
}

static braid_status check(const braid_problem *p) {
    TRY(op_check_activation(p, "; use bn_apply"));
    return p->pass == BRAID_PASS_BWD_DATA ? bn_check_train(p) : BRAID_OK;
}

static double flops(const braid_problem *p) {
    double act = p->activation == BRAID_ACTIVATION_RELU ? 1 : 16;
    return (act + (p->pass == BRAID_PASS_FWD ? 2 : 6)) * shape_total(p);
}

static int64_t terms(const braid_problem *p) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return bn_terms(p);
    return p->activation == BRAID_ACTIVATION_RELU ? 4 : 8;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    bn_chain_apply(c, p, CHAIN_TEMP(0));
    if (p->pass == BRAID_PASS_FWD) {
        bn_chain_act(c, p, CHAIN_TEMP(0), BN_FUSED_Y);
        return NULL;
    }
    bn_chain_act_gradient(c, p, CHAIN_TEMP(0), BN_FUSED_DY, CHAIN_TEMP(1));
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        bn_chain_sums(c, p, CHAIN_TEMP(1));
    } else {
        bn_chain_bwd_apply(c, p, CHAIN_TEMP(1));
    }
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 75) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    p->activation = draw_activation(r, 60, 0);
    bn_draw(r, p);
}

const op_info op_bn_act = {
    .name = "bn_act",
    .summary = "normalise and activate",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase) | FIELD_BIT(act),
    .max_streams = BRAID_MAX_PLANES,
    .is_cheap = 1,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands = {BN_FUSED_OPERANDS},
    .check = check,
    .planes = bn_fused_planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = shrink_pixels,
};
