/*
 * conv2d_dgrad_bn_reduce: the data gradient of a convolution, and the sums over it that the normalisation in front
 * needs. With x_i = relu(r_i * scale_i + shift_i), which bn_act makes and conv2d reads:
 *
 *   dx_i     = conv2d's data gradient of dy_i and w_i, with add1 a_i more
 *   g_i      = r_i * scale_i + shift_i > 0 ? dx_i : 0
 *   dbeta_i  = sum of g_i,  dgamma_i = sum of g_i * (r_i - center_i) * rstd_i
 *
 * With add2, x_i is bn_add_act's, and its ReLU is read off it: g_i = x_i > 0 ? dx_i : 0; with add3 both. Fields are
 * those of the convolution. It equals conv2d's data pass and then the weight pass of bn_act or bn_add_act: sums are of
 * dx as it is stored. A blanked sample has dx = 0, or its a_i alone, and adds nothing to the sums.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

braid_problem conv2d_dgrad_bn_reduce_conv(const braid_problem *p) {
    op_chain one = {0};
    braid_problem conv = chain_add(&one, p, BRAID_OP_CONV2D, BRAID_PASS_BWD_DATA)->problem;
    conv.add = (p->add & CONV2D_DGRAD_BN_REDUCE_ADD_A) != 0;
    return conv;
}

braid_problem conv2d_dgrad_bn_reduce_norm(const braid_problem *p) {
    op_chain one = {0};
    const braid_op_id op = p->add & CONV2D_DGRAD_BN_REDUCE_ADD_Z ? BRAID_OP_BN_ADD_ACT : BRAID_OP_BN_ACT;
    braid_problem norm = chain_add(&one, p, op, BRAID_PASS_BWD_WEIGHT)->problem;
    norm.phase = BRAID_PHASE_TRAIN;
    norm.activation = BRAID_ACTIVATION_RELU;
    return norm;
}

static int planes(const braid_problem *p, int slot) {
    const int reads_x = (p->add & CONV2D_DGRAD_BN_REDUCE_ADD_Z) != 0;
    switch (slot) {
        case CONV2D_DGRAD_BN_REDUCE_A: return p->add & CONV2D_DGRAD_BN_REDUCE_ADD_A ? p->streams : 0;
        case CONV2D_DGRAD_BN_REDUCE_X: return reads_x ? p->streams : 0;
        case CONV2D_DGRAD_BN_REDUCE_SCALE:
        case CONV2D_DGRAD_BN_REDUCE_SHIFT: return reads_x ? 0 : p->streams;
        case CONV2D_DGRAD_BN_REDUCE_MASK: return p->mask ? p->streams : 0;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case CONV2D_DGRAD_BN_REDUCE_DY: conv2d_shape(p, CONV2D_Y, i, out); break;
        case CONV2D_DGRAD_BN_REDUCE_W: conv2d_shape(p, CONV2D_W, i, out); break;
        case CONV2D_DGRAD_BN_REDUCE_MASK: shape_mask(p, out); break;
        case CONV2D_DGRAD_BN_REDUCE_A:
        case CONV2D_DGRAD_BN_REDUCE_R:
        case CONV2D_DGRAD_BN_REDUCE_X:
        case CONV2D_DGRAD_BN_REDUCE_DX: conv2d_shape(p, CONV2D_X, i, out); break;
        default: shape_statistics(p, p->in_channels[i], out); break;
    }
}

static double flops(const braid_problem *p) {
    const braid_problem conv = conv2d_dgrad_bn_reduce_conv(p), norm = conv2d_dgrad_bn_reduce_norm(p);
    return op_of(&conv)->flops(&conv) + op_of(&norm)->flops(&norm);
}

static int64_t terms(const braid_problem *p) {
    const braid_problem conv = conv2d_dgrad_bn_reduce_conv(p);
    return op_of(&conv)->terms(&conv);
}

static int64_t work(const braid_problem *p) {
    int64_t pixels = bn_terms(p), products = terms(p);
    return pixels > products ? pixels : products;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *conv = chain_add(c, p, BRAID_OP_CONV2D, BRAID_PASS_BWD_DATA);
    conv->problem = conv2d_dgrad_bn_reduce_conv(p);
    conv->place[CONV2D_X] = CONV2D_DGRAD_BN_REDUCE_DX;
    conv->place[CONV2D_W] = CONV2D_DGRAD_BN_REDUCE_W;
    conv->place[CONV2D_MASK] = CONV2D_DGRAD_BN_REDUCE_MASK;
    conv->place[CONV2D_Y] = CONV2D_DGRAD_BN_REDUCE_DY;
    conv->place[CONV2D_A] = CONV2D_DGRAD_BN_REDUCE_A;
    chain_step *norm = chain_add(c, p, BRAID_OP_BN_ACT, BRAID_PASS_BWD_WEIGHT);
    norm->problem = conv2d_dgrad_bn_reduce_norm(p);
    norm->is_share = 1;
    norm->place[BN_FUSED_X] = CONV2D_DGRAD_BN_REDUCE_R;
    norm->place[BN_FUSED_SCALE] = CONV2D_DGRAD_BN_REDUCE_SCALE;
    norm->place[BN_FUSED_SHIFT] = CONV2D_DGRAD_BN_REDUCE_SHIFT;
    norm->place[BN_FUSED_MASK] = CONV2D_DGRAD_BN_REDUCE_MASK;
    norm->place[BN_FUSED_Y] = CONV2D_DGRAD_BN_REDUCE_X;
    norm->place[BN_FUSED_DY] = CONV2D_DGRAD_BN_REDUCE_DX;
    norm->place[BN_FUSED_CENTER] = CONV2D_DGRAD_BN_REDUCE_CENTER;
    norm->place[BN_FUSED_RSTD] = CONV2D_DGRAD_BN_REDUCE_RSTD;
    norm->place[BN_FUSED_DGAMMA] = CONV2D_DGRAD_BN_REDUCE_DGAMMA;
    norm->place[BN_FUSED_DBETA] = CONV2D_DGRAD_BN_REDUCE_DBETA;
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    p->bias = 0;
    p->add = (int)rng_between(r, 0, CONV2D_DGRAD_BN_REDUCE_ADD_A | CONV2D_DGRAD_BN_REDUCE_ADD_Z);
}

const op_info op_conv2d_dgrad_bn_reduce = {
    .name = "conv2d_dgrad_bn_reduce",
    .summary = "data gradient of a convolution, and the sums of the normalisation in front of it",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = CONV2D_FIELDS | FIELD_BIT(add),
    .max_streams = BRAID_MAX_STREAMS,
    .stored = CONV2D_DGRAD_BN_REDUCE_DX,
    .operands =
        {
            [CONV2D_DGRAD_BN_REDUCE_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_A] = {"a", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_R] = {"r", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [CONV2D_DGRAD_BN_REDUCE_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_DGRAD_BN_REDUCE_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_DGRAD_BN_REDUCE_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = conv2d_check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = conv2d_shrink,
};
