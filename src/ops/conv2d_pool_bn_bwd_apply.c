/*
 * conv2d_pool_bn_bwd_apply: the weight gradient of a convolution behind which bn_act_pool stands, the first layers of a
 * network, without the gradient between them. With r_i = conv2d(x_i, w_i), a ReLU and windows of 3 x 3 places, two
 * apart, behind padding of one:
 *
 *   g_i  = bn_act_pool's data gradient, in training, of r_i and dy_i, which has a place for each window, in the format
 *   dw_i = conv2d's weight gradient of x_i and g_i
 *
 * Fields are those of the convolution. It equals these two passes one after the other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

braid_problem conv2d_pool_bn_bwd_apply_norm(const braid_problem *p) {
    braid_problem norm = {.op = BRAID_OP_BN_ACT_POOL,
                          .pass = BRAID_PASS_BWD_DATA,
                          .dtype = p->dtype,
                          .streams = p->streams,
                          .batch = p->batch,
                          .mask = p->mask,
                          .phase = BRAID_PHASE_TRAIN,
                          .activation = BRAID_ACTIVATION_RELU};
    for (int i = 0; i < p->streams; i++) {
        norm.in_channels[i] = p->out_channels[i];
        norm.in_pitch[i] = p->out_pitch[i];
    }
    for (int axis = 0; axis < 2; axis++) {
        norm.size[axis] = conv2d_out_size(p, axis);
        norm.filter[axis] = 3;
        norm.stride[axis] = 2;
        norm.padding[axis] = norm.dilation[axis] = 1;
    }
    return norm;
}

braid_problem conv2d_pool_bn_bwd_apply_conv(const braid_problem *p) {
    op_chain one = {0};
    return chain_add(&one, p, BRAID_OP_CONV2D, BRAID_PASS_BWD_WEIGHT)->problem;
}

static int planes(const braid_problem *p, int slot) {
    return slot == CONV2D_POOL_BN_BWD_APPLY_MASK && !p->mask ? 0 : p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const braid_problem norm = conv2d_pool_bn_bwd_apply_norm(p);
    if (slot == CONV2D_POOL_BN_BWD_APPLY_X || slot == CONV2D_POOL_BN_BWD_APPLY_DW) {
        conv2d_shape(p, slot == CONV2D_POOL_BN_BWD_APPLY_X ? CONV2D_X : CONV2D_W, i, out);
    } else {
        op_find(BRAID_OP_BN_ACT_POOL)->shape(&norm, slot == CONV2D_POOL_BN_BWD_APPLY_R ? BN_FUSED_X : slot, i, out);
    }
}

static braid_status check(const braid_problem *p) {
    TRY(conv2d_check(p));
    const braid_problem norm = conv2d_pool_bn_bwd_apply_norm(p);
    return bn_check_train(&norm);
}

static double flops(const braid_problem *p) {
    const braid_problem norm = conv2d_pool_bn_bwd_apply_norm(p);
    return conv2d_flops(p) + op_find(BRAID_OP_BN_ACT_POOL)->flops(&norm);
}

static int64_t terms(const braid_problem *p) {
    const braid_problem conv = conv2d_pool_bn_bwd_apply_conv(p);
    return conv2d_terms(&conv) + 8;
}

/* Four windows of nine places behind every term. */
static int64_t work(const braid_problem *p) { return terms(p) * 200; }

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *norm = chain_add(c, p, BRAID_OP_BN_ACT_POOL, BRAID_PASS_BWD_DATA);
    norm->problem = conv2d_pool_bn_bwd_apply_norm(p);
    norm->is_share = 1;
    for (int slot = BN_FUSED_SCALE; slot < BN_FUSED_DX; slot++) norm->place[slot] = slot;
    norm->place[BN_FUSED_X] = CONV2D_POOL_BN_BWD_APPLY_R;
    norm->place[BN_FUSED_Y] = -1;
    norm->place[BN_FUSED_DX] = CHAIN_TEMP(0);
    chain_step *conv = chain_add(c, p, BRAID_OP_CONV2D, BRAID_PASS_BWD_WEIGHT);
    conv->place[CONV2D_X] = CONV2D_POOL_BN_BWD_APPLY_X;
    conv->place[CONV2D_W] = CONV2D_POOL_BN_BWD_APPLY_DW;
    conv->place[CONV2D_MASK] = CONV2D_POOL_BN_BWD_APPLY_MASK;
    conv->place[CONV2D_Y] = CHAIN_TEMP(0);
    return NULL;
}

#define DRAW_PRODUCTS 5e3 /* few: the reference makes the gradient anew for each of them */

static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    p->bias = 0;
    while (conv2d_flops(p) > DRAW_PRODUCTS && p->batch > 1) p->batch--;
    for (int i = 0; i < p->streams; i++) {
        if (conv2d_flops(p) > DRAW_PRODUCTS) p->out_channels[i] = (1 + i % 3) * p->groups;
        if (conv2d_flops(p) > DRAW_PRODUCTS) p->in_channels[i] = (1 + i % 2) * p->groups;
    }
    if (p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1) == 1) p->batch = 2;
}

const op_info op_conv2d_pool_bn_bwd_apply = {
    .name = "conv2d_pool_bn_bwd_apply",
    .summary = "weight gradient of a convolution, through the normalisation and the pooling after it",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = CONV2D_FIELDS,
    .max_streams = BRAID_MAX_STREAMS,
    .operands =
        {
            [CONV2D_POOL_BN_BWD_APPLY_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_DW] = {"dw", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_POOL_BN_BWD_APPLY_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_POOL_BN_BWD_APPLY_R] = {"r", FILL_SIGNED, {ROLE_IN}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = conv2d_shrink,
};
