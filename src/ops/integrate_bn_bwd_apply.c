/*
 * integrate_bn_bwd_apply: the gradients of the streams' raw outputs in one pass. A raw output x_i goes two ways,
 * through its normalisation and into the learned mix, and its gradient is the sum of what comes back:
 *
 *   g_i  = dy_i * f'(x_i * scale_i + shift_i)                        (act=none: g_i = dy_i)
 *   dx_i = bn_bwd_apply of g_i, in training + sum over o of v_i[o][c] * dmix[b][p][q][o]
 *   dz   = sum over o of w[o][a] * dmix at the output that read it, with add1 az more   (as integrate gives it)
 *
 * x, dy and dx have the size of the mix, P x Q = (H - 1) / st + 1; hw is the size of z. A blanked sample of stream i
 * gets zeros in dx_i. It equals bn_act's data gradient (or bn_bwd_apply) and then integrate's with what is added to it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case INTEGRATE_BN_BWD_APPLY_SCALE:
        case INTEGRATE_BN_BWD_APPLY_SHIFT: return p->activation == BRAID_ACTIVATION_NONE ? 0 : p->streams;
        case INTEGRATE_BN_BWD_APPLY_MASK: return p->mask ? p->streams : 0;
        case INTEGRATE_BN_BWD_APPLY_DMIX: return 1;
        case INTEGRATE_BN_BWD_APPLY_W:
        case INTEGRATE_BN_BWD_APPLY_DZ: return p->integrated_in > 0;
        case INTEGRATE_BN_BWD_APPLY_AZ: return p->add;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {integrate_out_size(p, 0), integrate_out_size(p, 1)};
    switch (slot) {
        case INTEGRATE_BN_BWD_APPLY_X:
        case INTEGRATE_BN_BWD_APPLY_DY:
        case INTEGRATE_BN_BWD_APPLY_DX: shape_pixels(p, out_size, p->in_channels[i], p->in_pitch[i], out); break;
        case INTEGRATE_BN_BWD_APPLY_DMIX: shape_pixels(p, out_size, p->integrated_out, p->integrated_out, out); break;
        case INTEGRATE_BN_BWD_APPLY_AZ:
        case INTEGRATE_BN_BWD_APPLY_DZ: shape_pixels(p, p->size, p->integrated_in, p->integrated_in, out); break;
        case INTEGRATE_BN_BWD_APPLY_V: shape_matrix(p, p->integrated_out, p->in_channels[i], out); break;
        case INTEGRATE_BN_BWD_APPLY_W: shape_matrix(p, p->integrated_out, p->integrated_in, out); break;
        case INTEGRATE_BN_BWD_APPLY_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

braid_problem integrate_bn_bwd_apply_mix(const braid_problem *p) {
    op_chain one = {0};
    braid_problem mix = chain_add(&one, p, BRAID_OP_INTEGRATE, BRAID_PASS_BWD_DATA)->problem;
    mix.add = p->add ? INTEGRATE_ADD_R | INTEGRATE_ADD_Z : INTEGRATE_ADD_R;
    return mix;
}

static braid_status check(const braid_problem *p) {
    const int64_t axes[3] = {p->batch, integrate_out_size(p, 0), integrate_out_size(p, 1)};
    int64_t values;
    if (p->add && p->integrated_in == 0)
        return fail(BRAID_ERROR_ARGUMENT, "integrate_bn_bwd_apply: expected zi above 0 with add1, got 0");
    TRY(size_elements(axes, 3, "integrate_bn_bwd_apply", &values));
    if (values != 1) return BRAID_OK;
    return fail_with(
        BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
        "integrate_bn_bwd_apply: expected more than 1 value per channel, got b1 and 1x1; use a larger batch");
}

static double pixels(const braid_problem *p) {
    return (double)p->batch * (double)integrate_out_size(p, 0) * (double)integrate_out_size(p, 1);
}

static double flops(const braid_problem *p) {
    double channels = 0, act = p->activation == BRAID_ACTIVATION_RELU   ? 3
                               : p->activation == BRAID_ACTIVATION_NONE ? 0
                                                                        : 18;
    for (int i = 0; i < p->streams; i++) channels += (double)p->in_channels[i];
    return pixels(p) * (channels * (act + 5) + 2 * (channels + (double)p->integrated_in) * (double)p->integrated_out);
}

static int64_t terms(const braid_problem *p) {
    return p->integrated_out + (p->activation == BRAID_ACTIVATION_RELU ? 4 : 8);
}

/* ---- The chain ----------------------------------------------------------------------------- */

/* The gradient of the normalisation, to CHAIN_TEMP(0). */
static void add_norm(op_chain *c, const braid_problem *p) {
    if (p->activation == BRAID_ACTIVATION_NONE) {
        bn_chain_bwd_apply(c, p, BN_FUSED_DY);
        c->steps[0].place[BN_BWD_APPLY_DX] = CHAIN_TEMP(0);
    } else {
        chain_step *s = chain_add(c, p, BRAID_OP_BN_ACT, BRAID_PASS_BWD_DATA);
        for (int slot = BN_FUSED_X; slot < BN_FUSED_DX; slot++) s->place[slot] = slot;
        s->place[BN_FUSED_DX] = CHAIN_TEMP(0);
    }
    c->steps[0].is_share = 1;
    for (int axis = 0; axis < 2; axis++) c->steps[0].problem.size[axis] = integrate_out_size(p, axis);
}

static chain_step *add_mix(op_chain *c, const braid_problem *p) {
    chain_step *s = chain_add(c, p, BRAID_OP_INTEGRATE, BRAID_PASS_BWD_DATA);
    s->problem = integrate_bn_bwd_apply_mix(p);
    s->place[INTEGRATE_R] = INTEGRATE_BN_BWD_APPLY_DX;
    s->place[INTEGRATE_Z] = INTEGRATE_BN_BWD_APPLY_DZ;
    s->place[INTEGRATE_V] = INTEGRATE_BN_BWD_APPLY_V;
    s->place[INTEGRATE_W] = INTEGRATE_BN_BWD_APPLY_W;
    s->place[INTEGRATE_MASK] = INTEGRATE_BN_BWD_APPLY_MASK;
    s->place[INTEGRATE_Y] = INTEGRATE_BN_BWD_APPLY_DMIX;
    s->place[INTEGRATE_A] = CHAIN_TEMP(0);
    s->place[INTEGRATE_AZ] = INTEGRATE_BN_BWD_APPLY_AZ;
    return s;
}

static void add_sum(op_chain *c, const braid_problem *p, int x, int z, int y) {
    chain_step *s = chain_add(c, p, BRAID_OP_ADD, BRAID_PASS_FWD);
    s->place[ADD_X] = x;
    s->place[ADD_Z] = z;
    s->place[ADD_Y] = y;
    for (int axis = 0; axis < 2; axis++) s->problem.size[axis] = integrate_out_size(p, axis);
}

/* 1 where the kernels of integrate that add are made for such numbers and channels. */
static int adds_in_mix(const braid_problem *p) {
    int64_t all = p->integrated_in | p->integrated_out;
    for (int i = 0; i < p->streams; i++) all |= p->in_channels[i] | p->in_pitch[i];
    return (p->dtype == BRAID_DTYPE_F16 || p->dtype == BRAID_DTYPE_BF16) && all % 8 == 0;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    add_norm(c, p);
    chain_step *mix = add_mix(c, p);
    if (adds_in_mix(p)) return NULL;
    mix->problem.add = 0;
    mix->place[INTEGRATE_R] = CHAIN_TEMP(1);
    if (p->add) mix->place[INTEGRATE_Z] = CHAIN_TEMP(2);
    add_sum(c, p, CHAIN_TEMP(0), CHAIN_TEMP(1), INTEGRATE_BN_BWD_APPLY_DX);
    if (!p->add) return NULL;
    add_sum(c, p, CHAIN_TEMP(2), INTEGRATE_BN_BWD_APPLY_AZ, INTEGRATE_BN_BWD_APPLY_DZ);
    braid_problem *sum = &c->steps[c->count - 1].problem;
    *sum = (braid_problem){.op = BRAID_OP_ADD, .dtype = p->dtype, .streams = 1, .batch = p->batch};
    sum->size[0] = p->size[0];
    sum->size[1] = p->size[1];
    sum->in_channels[0] = p->integrated_in;
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->activation = draw_activation(r, 60, 1);
    op_find(BRAID_OP_INTEGRATE)->draw(r, p);
    p->bias = 0;
    p->add = p->integrated_in > 0 && draw_chance(r, 50);
    if (pixels(p) > 1) return;
    p->size[0] = 2;
    p->stride[0] = 1;
}

static void shrink(braid_problem *p) { op_find(BRAID_OP_INTEGRATE)->shrink(p); }

const op_info op_integrate_bn_bwd_apply = {
    .name = "integrate_bn_bwd_apply",
    .summary = "gradients of the streams' raw outputs, through their normalisation and the learned mix",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS | FIELD_BIT(st) | FIELD_BIT(act) | FIELD_BIT(zi) | FIELD_BIT(zo) | FIELD_BIT(add),
    .max_streams = BRAID_MAX_STREAMS,
    .operands =
        {
            [INTEGRATE_BN_BWD_APPLY_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DMIX] = {"dmix", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DX] = {"dx", FILL_SIGNED, {ROLE_OUT}},
            [INTEGRATE_BN_BWD_APPLY_V] = {"v", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_AZ] = {"az", FILL_SIGNED, {ROLE_IN}},
            [INTEGRATE_BN_BWD_APPLY_DZ] = {"dz", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = shrink,
};
