/*
 * bn_add_act: y = relu(x * scale + shift + z), the end of a residual block in one pass. z is the block's input, or,
 * with zn1, a raw convolution output that has a scale and a shift of its own: z * zscale + zshift. Blanked
 * samples give exact zeros, whatever z holds. Backward, the ReLU is read off y, which the next layer keeps:
 *
 *   g = y > 0 ? dy : 0
 *   bwd_weight: dbeta = sum g, dgamma = sum g * (x - center) * rstd      (bn_bwd_reduce of g)
 *   bwd_data:   dx from g, dgamma and dbeta as bn_bwd_apply gives it; dz = g, before the normalisation of z
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    bn_fused_shape(p, slot, i, p->size, out);
}

static braid_status check(const braid_problem *p) {
    if (p->activation != BRAID_ACTIVATION_RELU)
        return fail(
            BRAID_ERROR_ARGUMENT,
            "bn_add_act: expected act=relu, whose gradient can be read off y, got another activation; use bn_apply, "
            "add and act");
    return p->pass == BRAID_PASS_BWD_DATA ? bn_check_train(p) : BRAID_OK;
}

static double flops(const braid_problem *p) {
    return (p->pass == BRAID_PASS_FWD ? 4 + 2 * p->residual_norm : 6) * shape_total(p);
}

static int64_t terms(const braid_problem *p) { return p->pass == BRAID_PASS_BWD_WEIGHT ? bn_terms(p) : 6; }

static void add_forward(op_chain *c, const braid_problem *p) {
    int z = BN_FUSED_Z;
    bn_chain_apply(c, p, CHAIN_TEMP(0));
    if (p->residual_norm) {
        chain_step *s = chain_add(c, p, BRAID_OP_BN_APPLY, BRAID_PASS_FWD);
        z = CHAIN_TEMP(1);
        s->place[BN_APPLY_X] = BN_FUSED_Z;
        s->place[BN_APPLY_SCALE] = BN_FUSED_ZSCALE;
        s->place[BN_APPLY_SHIFT] = BN_FUSED_ZSHIFT;
        s->place[BN_APPLY_MASK] = BN_FUSED_MASK;
        s->place[BN_APPLY_Y] = z;
    }
    chain_step *s = chain_add(c, p, BRAID_OP_ADD, BRAID_PASS_FWD);
    s->place[ADD_X] = CHAIN_TEMP(0);
    s->place[ADD_Z] = z;
    s->place[ADD_Y] = CHAIN_TEMP(2);
    bn_chain_act(c, p, CHAIN_TEMP(2), BN_FUSED_Y);
}

static const char *steps(const braid_problem *p, op_chain *c) {
    if (p->mask && (p->pass == BRAID_PASS_BWD_DATA || (p->pass == BRAID_PASS_FWD && !p->residual_norm)))
        return "none of its natural ops blanks the residual";
    switch (p->pass) {
        case BRAID_PASS_FWD: add_forward(c, p); break;
        case BRAID_PASS_BWD_DATA:
            bn_chain_act_gradient(c, p, BN_FUSED_Y, BN_FUSED_DY, BN_FUSED_DZ);
            bn_chain_bwd_apply(c, p, BN_FUSED_DZ);
            break;
        default:
            bn_chain_act_gradient(c, p, BN_FUSED_Y, BN_FUSED_DY, CHAIN_TEMP(0));
            bn_chain_sums(c, p, CHAIN_TEMP(0));
            break;
    }
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 75) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    p->residual_norm = draw_chance(r, 40);
    bn_draw(r, p);
}

static int planes(const braid_problem *p, int slot) {
    if (p->pass != BRAID_PASS_FWD && (slot == BN_FUSED_ZSCALE || slot == BN_FUSED_ZSHIFT)) return 0;
    return bn_fused_planes(p, slot);
}

const op_info op_bn_add_act = {
    .name = "bn_add_act",
    .summary = "normalise, add the residual and activate",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(phase) | FIELD_BIT(act) | FIELD_BIT(zn),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [BN_FUSED_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [BN_FUSED_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BN_FUSED_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BN_FUSED_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [BN_FUSED_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_IN, ROLE_IN}},
            [BN_FUSED_DY] = {"dy", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},
            [BN_FUSED_CENTER] = {"center", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},
            [BN_FUSED_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_NONE, ROLE_IN, ROLE_IN}},
            [BN_FUSED_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_NONE}},
            [BN_FUSED_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_OUT}},
            [BN_FUSED_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_OUT}},
            [BN_FUSED_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT, ROLE_NONE}},
            [BN_FUSED_Z] = {"z", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BN_FUSED_ZSCALE] = {"zscale", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BN_FUSED_ZSHIFT] = {"zshift", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BN_FUSED_DZ] = {"dz", FILL_SIGNED, {ROLE_NONE, ROLE_OUT, ROLE_NONE}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = shrink_pixels,
};
