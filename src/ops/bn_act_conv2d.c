/*
 * bn_act_conv2d: a normalisation with its activation, and the convolution that reads it, of every stream:
 *
 *   a_i = f(x_i * scale_i + shift_i), rounded to the format, 0 in blanked samples      (bn_act)
 *   y_i = conv2d(a_i, w_i)
 *
 * Both are stored: the backward pass reads a. Beyond the edge a is zero, not x. A mask blanks the samples of a stream
 * in both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

/* The bn_act in it. */
static braid_problem norm_of(const braid_problem *p) {
    op_chain chain = {0};
    op_of(p)->chain(p, &chain);
    return chain.steps[0].problem;
}

static int planes(const braid_problem *p, int slot) { return slot == BN_ACT_CONV2D_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_ACT_CONV2D_SCALE:
        case BN_ACT_CONV2D_SHIFT: shape_statistics(p, p->in_channels[i], out); break;
        case BN_ACT_CONV2D_A: conv2d_shape(p, CONV2D_X, i, out); break;
        default: conv2d_shape(p, slot, i, out); break;
    }
}

static braid_status check(const braid_problem *p) {
    const braid_problem norm = norm_of(p);
    TRY(conv2d_check(p));
    return op_find(BRAID_OP_BN_ACT)->check(&norm);
}

static double flops(const braid_problem *p) {
    const braid_problem norm = norm_of(p);
    return conv2d_flops(p) + op_find(BRAID_OP_BN_ACT)->flops(&norm);
}

static int64_t terms(const braid_problem *p) { return conv2d_terms(p) + 8; }

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *norm = chain_add(c, p, BRAID_OP_BN_ACT, BRAID_PASS_FWD);
    norm->problem.phase = BRAID_PHASE_TRAIN;
    norm->is_share = 1;
    norm->problem.activation = p->activation;
    norm->place[BN_FUSED_X] = BN_ACT_CONV2D_X;
    norm->place[BN_FUSED_SCALE] = BN_ACT_CONV2D_SCALE;
    norm->place[BN_FUSED_SHIFT] = BN_ACT_CONV2D_SHIFT;
    norm->place[BN_FUSED_MASK] = BN_ACT_CONV2D_MASK;
    norm->place[BN_FUSED_Y] = BN_ACT_CONV2D_A;
    chain_step *conv = chain_add(c, p, BRAID_OP_CONV2D, BRAID_PASS_FWD);
    conv->place[CONV2D_X] = BN_ACT_CONV2D_A;
    conv->place[CONV2D_W] = BN_ACT_CONV2D_W;
    conv->place[CONV2D_MASK] = BN_ACT_CONV2D_MASK;
    conv->place[CONV2D_Y] = BN_ACT_CONV2D_Y;
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    p->bias = 0;
    p->activation = draw_activation(r, 70, 0);
}

const op_info op_bn_act_conv2d = {
    .name = "bn_act_conv2d",
    .summary = "normalise, activate, and a convolution of that",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = CONV2D_FIELDS | FIELD_BIT(act),
    .max_streams = BRAID_MAX_STREAMS,
    .operands =
        {
            [BN_ACT_CONV2D_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_ACT_CONV2D_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [BN_ACT_CONV2D_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [BN_ACT_CONV2D_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_ACT_CONV2D_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
            [BN_ACT_CONV2D_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [BN_ACT_CONV2D_A] = {"a", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = conv2d_shrink,
};
