/*
 * conv2d_scale_bias_act: y = f(conv2d(x, w) * scale + shift (+ z)), channel by channel: a convolution and its
 * normalisation with running statistics, with the residual and the activation, for inference in one kernel. act=none
 * leaves the activation out, add1 adds z. Blanked samples give exact zeros, whatever z holds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    if (slot == CONV2D_SCALE_BIAS_ACT_MASK) return p->mask ? p->streams : 0;
    if (slot == CONV2D_SCALE_BIAS_ACT_Z) return p->add ? p->streams : 0;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case CONV2D_SCALE_BIAS_ACT_SCALE:
        case CONV2D_SCALE_BIAS_ACT_SHIFT: shape_statistics(p, p->out_channels[i], out); break;
        case CONV2D_SCALE_BIAS_ACT_Z: conv2d_shape(p, CONV2D_Y, i, out); break;
        default: conv2d_shape(p, slot, i, out); break;
    }
}

static double flops(const braid_problem *p) {
    double outputs = 0;
    for (int i = 0; i < p->streams; i++) outputs += (double)p->out_channels[i];
    return conv2d_flops(p) +
           3 * outputs * (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1);
}

static int64_t terms(const braid_problem *p) { return conv2d_terms(p) + 4; }

/* The op itself but for the activation, which comes behind it: f(0) = 0, so that blanked samples stay zeros. */
static void add_activated(op_chain *c, const braid_problem *p) {
    chain_step *s = chain_add(c, p, BRAID_OP_CONV2D_SCALE_BIAS_ACT, BRAID_PASS_FWD);
    s->problem.activation = BRAID_ACTIVATION_NONE;
    for (int slot = CONV2D_SCALE_BIAS_ACT_X; slot <= CONV2D_SCALE_BIAS_ACT_Z; slot++) s->place[slot] = slot;
    s->place[CONV2D_SCALE_BIAS_ACT_Y] = CHAIN_TEMP(0);
    s = conv2d_chain_outputs(c, p, BRAID_OP_ACT, BRAID_PASS_FWD);
    s->place[ACT_X] = CHAIN_TEMP(0);
    s->place[ACT_Y] = CONV2D_SCALE_BIAS_ACT_Y;
}

static const char *steps(const braid_problem *p, op_chain *c) {
    int act = p->activation != BRAID_ACTIVATION_NONE, out = CONV2D_SCALE_BIAS_ACT_Y;
    if (p->mask && p->add) {
        if (!act) return "none of its natural ops blanks the residual";
        add_activated(c, p);
        return NULL;
    }
    chain_step *s = chain_add(c, p, BRAID_OP_CONV2D, BRAID_PASS_FWD);
    s->problem.add = 0; /* which means something else there */
    s->place[CONV2D_X] = CONV2D_SCALE_BIAS_ACT_X;
    s->place[CONV2D_W] = CONV2D_SCALE_BIAS_ACT_W;
    s->place[CONV2D_MASK] = CONV2D_SCALE_BIAS_ACT_MASK;
    s->place[CONV2D_Y] = CHAIN_TEMP(0);
    s = conv2d_chain_outputs(c, p, BRAID_OP_BN_APPLY, BRAID_PASS_FWD);
    s->place[BN_APPLY_X] = CHAIN_TEMP(0);
    s->place[BN_APPLY_SCALE] = CONV2D_SCALE_BIAS_ACT_SCALE;
    s->place[BN_APPLY_SHIFT] = CONV2D_SCALE_BIAS_ACT_SHIFT;
    s->place[BN_APPLY_MASK] = CONV2D_SCALE_BIAS_ACT_MASK;
    s->place[BN_APPLY_Y] = act || p->add ? CHAIN_TEMP(1) : out;
    if (p->add) {
        s = conv2d_chain_outputs(c, p, BRAID_OP_ADD, BRAID_PASS_FWD);
        s->place[ADD_X] = CHAIN_TEMP(1);
        s->place[ADD_Z] = CONV2D_SCALE_BIAS_ACT_Z;
        s->place[ADD_Y] = act ? CHAIN_TEMP(2) : out;
    }
    if (act) {
        s = conv2d_chain_outputs(c, p, BRAID_OP_ACT, BRAID_PASS_FWD);
        s->place[ACT_X] = p->add ? CHAIN_TEMP(2) : CHAIN_TEMP(1);
        s->place[ACT_Y] = out;
    }
    return NULL;
}

static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    p->bias = 0;
    p->add = draw_chance(r, 35);
    p->activation = draw_activation(r, 60, 1);
}

const op_info op_conv2d_scale_bias_act = {
    .name = "conv2d_scale_bias_act",
    .summary = "convolution, normalisation, residual and activation, for inference",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = CONV2D_FIELDS | FIELD_BIT(act) | FIELD_BIT(add),
    .max_streams = BRAID_MAX_STREAMS,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [CONV2D_SCALE_BIAS_ACT_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_SCALE_BIAS_ACT_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_SCALE_BIAS_ACT_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_SCALE_BIAS_ACT_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [CONV2D_SCALE_BIAS_ACT_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_SCALE_BIAS_ACT_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_SCALE_BIAS_ACT_Z] = {"z", FILL_SIGNED, {ROLE_IN}},
        },
    .check = conv2d_check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .draw = draw,
    .shrink = conv2d_shrink,
};
