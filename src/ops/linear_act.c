/*
 * linear_act: y = f(u), u = x * w^T + bias, a layer of a perceptron in one kernel; x [B][C], w [K][C], y [B][K].
 * With phase=train a curved activation also writes u, which its gradient needs; ReLU's is read off y.
 * Backward, with g = dy * f'(u):
 *
 *   bwd_data: dx = g * w;   bwd_weight: dw = g^T * x, dbias = the column sums of g
 *
 * A blanked sample has u = y = 0, dx = 0 and adds nothing to dw and dbias.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    int relu = p->activation == BRAID_ACTIVATION_RELU, forward = p->pass == BRAID_PASS_FWD;
    switch (slot) {
        case LINEAR_ACT_BIAS: return p->bias ? p->streams : 0;
        case LINEAR_ACT_MASK: return p->mask ? p->streams : 0;
        case LINEAR_ACT_Y: return forward || relu ? p->streams : 0;
        case LINEAR_ACT_U: return relu || (forward && p->phase == BRAID_PHASE_EVAL) ? 0 : p->streams;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    linear_shape(p, slot == LINEAR_ACT_U || slot == LINEAR_ACT_DY ? LINEAR_ACT_Y : slot, i, out);
}

static braid_status check(const braid_problem *p) { return op_check_activation(p, "; use linear"); }

static int64_t terms(const braid_problem *p) {
    return linear_terms(p) + (p->activation == BRAID_ACTIVATION_RELU ? 0 : 4);
}

static chain_step *add_activation(op_chain *c, const braid_problem *p, braid_pass pass) {
    chain_step *s = chain_add(c, p, BRAID_OP_ACT, pass);
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        s->problem.in_channels[i] = p->out_channels[i];
        s->problem.in_pitch[i] = p->out_pitch[i];
    }
    s->problem.size[0] = s->problem.size[1] = 1;
    return s;
}

static chain_step *add_linear(op_chain *c, const braid_problem *p, int y) {
    chain_step *s = chain_add(c, p, BRAID_OP_LINEAR, p->pass);
    s->place[LINEAR_X] = LINEAR_ACT_X;
    s->place[LINEAR_W] = LINEAR_ACT_W;
    s->place[LINEAR_BIAS] = LINEAR_ACT_BIAS;
    s->place[LINEAR_MASK] = LINEAR_ACT_MASK;
    s->place[LINEAR_Y] = y;
    return s;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    int kept = planes(p, LINEAR_ACT_U) > 0;
    if (p->pass == BRAID_PASS_FWD) {
        int u = kept ? LINEAR_ACT_U : CHAIN_TEMP(0);
        add_linear(c, p, u);
        chain_step *act = add_activation(c, p, BRAID_PASS_FWD);
        act->place[ACT_X] = u;
        act->place[ACT_Y] = LINEAR_ACT_Y;
        return NULL;
    }
    chain_step *act = add_activation(c, p, BRAID_PASS_BWD_DATA);
    act->place[ACT_X] = kept ? LINEAR_ACT_U : LINEAR_ACT_Y;
    act->place[ACT_Y] = LINEAR_ACT_DY;
    act->place[ACT_DX] = CHAIN_TEMP(0);
    add_linear(c, p, CHAIN_TEMP(0));
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 70) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    p->activation = draw_activation(r, 60, 0);
    linear_draw(r, p);
}

const op_info op_linear_act = {
    .name = "linear_act",
    .summary = "linear map and activation",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(bias) | FIELD_BIT(mask) |
              FIELD_BIT(phase) | FIELD_BIT(act) | FIELD_BIT(cp) | FIELD_BIT(kp) | FIELD_BIT(tf32),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [LINEAR_ACT_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [LINEAR_ACT_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [LINEAR_ACT_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [LINEAR_ACT_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [LINEAR_ACT_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_IN, ROLE_IN}},
            [LINEAR_ACT_U] = {"u", FILL_SIGNED, {ROLE_OUT, ROLE_IN, ROLE_IN}},
            [LINEAR_ACT_DY] = {"dy", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = product_flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = shrink_rows,
};
