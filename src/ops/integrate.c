/*
 * integrate: LINet's learned mix of all streams and of the integrated pathway so far,
 *
 *   y[b][p][q][o] = bias[o] + sum over a of w[o][a] * z[b][p*st][q*st][a]
 *                           + sum over i, c of v_i[o][c] * r_i[b][p][q][c]
 *
 * where r_i are the raw outputs of the streams' convolutions and z is the previous integrated activation,
 * [B][H][W][zi], read with the layer's stride (zi0: the first layer has none). y has one plane. A blanked
 * sample of stream i adds nothing to y and dv_i, and its dr_i is 0. Gradients: bwd_data gives dr_i and dz
 * from dy, with add1 dr_i = a_i + that, where a_i is what the stream itself passes back (a blanked sample gets its a_i
 * alone), with add2 dz = az + that, az at the pixels that the stride skips, and with add3 both; bwd_weight gives dv_i,
 * dw and dbias.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

int64_t integrate_out_size(const braid_problem *p, int axis) { return (p->size[axis] - 1) / p->stride[axis] + 1; }

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case INTEGRATE_Z:
        case INTEGRATE_W: return p->integrated_in > 0;
        case INTEGRATE_BIAS: return p->bias;
        case INTEGRATE_MASK: return p->mask ? p->streams : 0;
        case INTEGRATE_Y: return 1;
        case INTEGRATE_A: return p->add & INTEGRATE_ADD_R ? p->streams : 0;
        case INTEGRATE_AZ: return (p->add & INTEGRATE_ADD_Z) != 0;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {integrate_out_size(p, 0), integrate_out_size(p, 1)};
    switch (slot) {
        case INTEGRATE_A:
        case INTEGRATE_R: shape_pixels(p, out_size, p->in_channels[i], p->in_pitch[i], out); break;
        case INTEGRATE_AZ:
        case INTEGRATE_Z: shape_pixels(p, p->size, p->integrated_in, p->integrated_in, out); break;
        case INTEGRATE_Y: shape_pixels(p, out_size, p->integrated_out, p->integrated_out, out); break;
        case INTEGRATE_V: shape_matrix(p, p->integrated_out, p->in_channels[i], out); break;
        case INTEGRATE_W: shape_matrix(p, p->integrated_out, p->integrated_in, out); break;
        case INTEGRATE_BIAS: shape_vector(p, p->integrated_out, out); break;
        default: shape_mask(p, out); break;
    }
}

static int64_t channels(const braid_problem *p) {
    int64_t sum = p->integrated_in;
    for (int i = 0; i < p->streams; i++) sum += p->in_channels[i];
    return sum;
}

static int64_t pixels(const braid_problem *p) { return p->batch * integrate_out_size(p, 0) * integrate_out_size(p, 1); }

static double flops(const braid_problem *p) {
    return 2 * (double)pixels(p) * (double)channels(p) * (double)p->integrated_out;
}

static int64_t terms(const braid_problem *p) {
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return pixels(p);
    return p->pass == BRAID_PASS_FWD ? channels(p) + 1 : p->integrated_out + (p->add != 0);
}

static braid_status check(const braid_problem *p) {
    if (p->add && p->pass != BRAID_PASS_BWD_DATA)
        return fail(BRAID_ERROR_ARGUMENT, "integrate: expected add1 with pass bwd_data, got another pass");
    if ((p->add & INTEGRATE_ADD_Z) && p->integrated_in == 0)
        return fail(BRAID_ERROR_ARGUMENT, "integrate: expected zi above 0 with add%d, got 0", p->add);
    return BRAID_OK;
}

/* Channels that are multiples of 8, which tensor-core kernels ask for. */
static void draw_whole_pieces(braid_problem *p) {
    p->integrated_in = (p->integrated_in + 7) / 8 * 8;
    p->integrated_out = (p->integrated_out + 7) / 8 * 8;
    for (int i = 0; i < p->streams; i++) p->in_channels[i] = (p->in_channels[i] + 7) / 8 * 8;
}

/* Never add1 to add3, which the kernels of a GPU alone do: its problems are written by hand. */
static void draw(rng *r, braid_problem *p) {
    p->integrated_in = draw_chance(r, 25) ? 0 : draw_size(r, 48);
    p->integrated_out = draw_size(r, 48);
    p->bias = draw_chance(r, 30);
    for (int axis = 0; axis < 2; axis++) {
        p->size[axis] = draw_size(r, 19);
        p->stride[axis] = draw_chance(r, 60) ? 1 : rng_between(r, 2, 3);
    }
    if (draw_chance(r, 40)) draw_whole_pieces(p);
    while (flops(p) > DRAW_FLOPS && p->batch > 1) p->batch--;
    while (flops(p) > DRAW_FLOPS && (p->size[0] > 2 || p->size[1] > 2)) {
        int axis = p->size[0] > p->size[1] ? 0 : 1;
        p->size[axis]--;
    }
}

static void shrink(braid_problem *p) {
    shrink_pixels(p);
    p->integrated_in = p->integrated_in ? shrink_size(p->integrated_in, 80) : 0;
    p->integrated_out = shrink_size(p->integrated_out, 80);
}

const op_info op_integrate = {
    .name = "integrate",
    .summary = "learned mix of all streams and the integrated pathway",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(st) | FIELD_BIT(bias) |
              FIELD_BIT(mask) | FIELD_BIT(zi) | FIELD_BIT(zo) | FIELD_BIT(add) | FIELD_BIT(cp) | FIELD_BIT(tf32),
    .max_streams = BRAID_MAX_STREAMS,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [INTEGRATE_R] = {"r", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [INTEGRATE_Z] = {"z", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [INTEGRATE_V] = {"v", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [INTEGRATE_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [INTEGRATE_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [INTEGRATE_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [INTEGRATE_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
            [INTEGRATE_A] = {"a", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_NONE}},
            [INTEGRATE_AZ] = {"az", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_NONE}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink,
};
