/*
 * li_conv2d: a layer of LINet, the convolutions of all streams and their learned mix:
 *
 *   r_i = conv2d(x_i, w_i)                              raw, kept for the weight gradient
 *   y_i = r_i + bias_i                                  with bias1; without, the streams' outputs are r_i
 *   zy  = zbias + wz * z (strided) + sum over i of v_i * r_i        (integrate of r_i and z)
 *
 * Integration reads r as it is stored, before the bias. A blanked sample of stream i has r = y = 0, adds nothing to
 * zy, and its gradients are 0. Backward, with dr_i = dy_i + v_i^T dzy:
 *
 *   bwd_data:   dx_i = conv2d gradient of dr_i;   dz = wz^T dzy at the strided places
 *   bwd_weight: dw_i from x_i and dr_i, dbias_i = sum dy_i;   dv_i = dzy r_i^T, dwz = dzy z^T, dzbias = sum dzy
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static braid_status check(const braid_problem *p) {
    TRY(conv2d_check(p));
    for (int axis = 0; axis < 2 && p->integrated_in > 0; axis++) {
        if (conv2d_out_size(p, axis) == integrate_out_size(p, axis)) continue;
        return fail(BRAID_ERROR_ARGUMENT,
                    "li_conv2d: expected pad (padding) that gives an output of %lld where the integrated input is read "
                    "with the stride, got %lld; with zi0 any will do",
                    (long long)integrate_out_size(p, axis), (long long)conv2d_out_size(p, axis));
    }
    return BRAID_OK;
}

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case LI_CONV2D_BIAS: return p->bias ? p->streams : 0;
        case LI_CONV2D_Y: return p->bias ? p->streams : 0;
        case LI_CONV2D_MASK: return p->mask ? p->streams : 0;
        case LI_CONV2D_Z:
        case LI_CONV2D_WZ: return p->integrated_in > 0;
        case LI_CONV2D_ZBIAS: return p->bias;
        case LI_CONV2D_ZY: return 1;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    switch (slot) {
        case LI_CONV2D_R:
        case LI_CONV2D_DY: conv2d_shape(p, LI_CONV2D_Y, i, out); break;
        case LI_CONV2D_Z: shape_pixels(p, p->size, p->integrated_in, p->integrated_in, out); break;
        case LI_CONV2D_ZY: shape_pixels(p, out_size, p->integrated_out, p->integrated_out, out); break;
        case LI_CONV2D_V:
        case LI_CONV2D_DV: shape_matrix(p, p->integrated_out, p->out_channels[i], out); break;
        case LI_CONV2D_WZ: shape_matrix(p, p->integrated_out, p->integrated_in, out); break;
        case LI_CONV2D_ZBIAS: shape_vector(p, p->integrated_out, out); break;
        default: conv2d_shape(p, slot, i, out); break;
    }
}

static int64_t mixed_channels(const braid_problem *p) {
    int64_t sum = p->integrated_in;
    for (int i = 0; i < p->streams; i++) sum += p->out_channels[i];
    return sum;
}

static double flops(const braid_problem *p) {
    double pixels = (double)p->batch * (double)conv2d_out_size(p, 0) * (double)conv2d_out_size(p, 1);
    return conv2d_flops(p) + 2 * pixels * (double)mixed_channels(p) * (double)p->integrated_out;
}

static int64_t terms(const braid_problem *p) {
    return conv2d_terms(p) + (p->pass == BRAID_PASS_FWD ? mixed_channels(p) : p->integrated_out);
}

static int64_t work(const braid_problem *p) {
    return conv2d_terms(p) * (p->pass == BRAID_PASS_FWD ? mixed_channels(p) : p->integrated_out + 1);
}

/* ---- The chain ----------------------------------------------------------------------------- */

/* The integrate problem; with_z: the integrated input takes part, where there is one. */
static braid_problem mix_problem(const braid_problem *p, braid_pass pass, int with_z) {
    op_chain one = {0};
    braid_problem mix = chain_add(&one, p, BRAID_OP_INTEGRATE, pass)->problem;
    if (!with_z) mix.integrated_in = 0;
    for (int axis = 0; axis < 2 && mix.integrated_in == 0; axis++) {
        mix.size[axis] = conv2d_out_size(p, axis);
        mix.stride[axis] = 1;
    }
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        mix.in_channels[i] = p->out_channels[i];
        mix.in_pitch[i] = p->out_pitch[i];
    }
    return mix;
}

static chain_step *add_integrate(op_chain *c, const braid_problem *p, braid_pass pass, int with_z) {
    chain_step *s = chain_add(c, p, BRAID_OP_INTEGRATE, pass);
    s->problem = mix_problem(p, pass, with_z);
    s->place[INTEGRATE_R] = LI_CONV2D_R;
    s->place[INTEGRATE_Z] = LI_CONV2D_Z;
    s->place[INTEGRATE_V] = LI_CONV2D_V;
    s->place[INTEGRATE_W] = LI_CONV2D_WZ;
    s->place[INTEGRATE_BIAS] = LI_CONV2D_ZBIAS;
    s->place[INTEGRATE_MASK] = LI_CONV2D_MASK;
    s->place[INTEGRATE_Y] = LI_CONV2D_ZY;
    return s;
}

/* Without its bias, which is a step of its own. */
static void add_convolution(op_chain *c, const braid_problem *p, int y) {
    chain_step *s = chain_add(c, p, BRAID_OP_CONV2D, p->pass);
    s->problem.bias = 0;
    s->place[CONV2D_X] = LI_CONV2D_X;
    s->place[CONV2D_W] = LI_CONV2D_W;
    s->place[CONV2D_MASK] = LI_CONV2D_MASK;
    s->place[CONV2D_Y] = y;
}

/* y of r, or dbias of dy. */
static void add_bias(op_chain *c, const braid_problem *p) {
    chain_step *s = conv2d_chain_outputs(c, p, BRAID_OP_BIAS, p->pass);
    s->place[BIAS_X] = LI_CONV2D_R;
    s->place[BIAS_BIAS] = LI_CONV2D_BIAS;
    s->place[BIAS_MASK] = LI_CONV2D_MASK;
    s->place[BIAS_Y] = p->pass == BRAID_PASS_FWD ? LI_CONV2D_Y : LI_CONV2D_DY;
}

/* dr = dy + v^T dzy, the gradient that the convolutions get, to CHAIN_TEMP(1); dz on the way where it is asked for. */
static void add_raw_gradient(op_chain *c, const braid_problem *p) {
    chain_step *mix = add_integrate(c, p, BRAID_PASS_BWD_DATA, p->pass == BRAID_PASS_BWD_DATA);
    mix->place[INTEGRATE_R] = CHAIN_TEMP(0);
    chain_step *sum = conv2d_chain_outputs(c, p, BRAID_OP_ADD, BRAID_PASS_FWD);
    sum->place[ADD_X] = CHAIN_TEMP(0);
    sum->place[ADD_Z] = LI_CONV2D_DY;
    sum->place[ADD_Y] = CHAIN_TEMP(1);
}

static const char *steps(const braid_problem *p, op_chain *c) {
    switch (p->pass) {
        case BRAID_PASS_FWD:
            add_convolution(c, p, LI_CONV2D_R);
            add_integrate(c, p, BRAID_PASS_FWD, 1);
            break;
        case BRAID_PASS_BWD_DATA:
            add_raw_gradient(c, p);
            add_convolution(c, p, CHAIN_TEMP(1));
            break;
        default:
            add_raw_gradient(c, p);
            add_convolution(c, p, CHAIN_TEMP(1));
            add_integrate(c, p, BRAID_PASS_BWD_WEIGHT, 1)->place[INTEGRATE_V] = LI_CONV2D_DV;
            break;
    }
    if (p->bias && p->pass != BRAID_PASS_BWD_DATA) add_bias(c, p);
    return NULL;
}

/* ---- Random problems ----------------------------------------------------------------------- */

/* The padding that keeps the size, where the integrated input must fit. */
static void keep_size(braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        int64_t reach = p->dilation[axis] * (p->filter[axis] - 1);
        p->padding[axis] = reach / 2;
        p->extra_padding[axis] = reach % 2;
        if (p->padding[axis] + p->extra_padding[axis] >= p->size[axis]) p->padding_mode = BRAID_PADDING_ZEROS;
    }
}

#define DRAW_WORK 2e6

/* All operations of the reference's forward pass, which computes every r for every output of the mix. */
static double reference_work(const braid_problem *p) { return conv2d_flops(p) * (double)(p->integrated_out + 1); }

static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    p->integrated_in = draw_chance(r, 30) ? 0 : draw_size(r, 24);
    p->integrated_out = draw_size(r, 24);
    if (p->integrated_in > 0) keep_size(p);
    while (reference_work(p) > DRAW_WORK && p->batch > 1) p->batch--;
    while (reference_work(p) > DRAW_WORK && p->integrated_out > 1) p->integrated_out = (p->integrated_out + 1) / 2;
    for (int i = 0; i < p->streams && p->groups == 1; i++) {
        if (reference_work(p) > DRAW_WORK) p->out_channels[i] = (p->out_channels[i] + 3) / 4;
    }
}

static void shrink(braid_problem *p) {
    conv2d_shrink(p);
    if (p->integrated_in > 0) p->integrated_in = shrink_size(p->integrated_in, 80);
    p->integrated_out = shrink_size(p->integrated_out, 80);
}

const op_info op_li_conv2d = {
    .name = "li_conv2d",
    .summary = "convolutions of every stream and their learned mix",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = CONV2D_FIELDS | FIELD_BIT(bias) | FIELD_BIT(zi) | FIELD_BIT(zo),
    .max_streams = BRAID_MAX_STREAMS,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [LI_CONV2D_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [LI_CONV2D_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [LI_CONV2D_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [LI_CONV2D_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [LI_CONV2D_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_NONE, ROLE_NONE}},
            [LI_CONV2D_R] = {"r", FILL_SIGNED, {ROLE_OUT, ROLE_NONE, ROLE_IN}},
            [LI_CONV2D_DY] = {"dy", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},
            [LI_CONV2D_Z] = {"z", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [LI_CONV2D_V] = {"v", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [LI_CONV2D_WZ] = {"wz", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [LI_CONV2D_ZBIAS] = {"zbias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [LI_CONV2D_ZY] = {"zy", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
            [LI_CONV2D_DV] = {"dv", FILL_SIGNED, {ROLE_NONE, ROLE_NONE, ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = shrink,
};
