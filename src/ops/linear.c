/*
 * linear: y_i = x_i * w_i^T + bias_i for every stream i; x [B][C], w [K][C], y [B][K].
 * Gradients: dx = dy * w; dw = dy^T * x, and dbias = the column sums of dy where there is a bias.
 * A blanked sample has y = 0, dx = 0 and adds nothing to dw and dbias.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/op.h"
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    if (slot == LINEAR_BIAS) return p->bias ? p->streams : 0;
    if (slot == LINEAR_MASK) return p->mask ? p->streams : 0;
    return p->streams;
}

void linear_shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case LINEAR_X: *out = (plane_shape){p->dtype, 2, {p->batch, p->in_channels[i]}, p->in_pitch[i]}; break;
        case LINEAR_Y: *out = (plane_shape){p->dtype, 2, {p->batch, p->out_channels[i]}, p->out_pitch[i]}; break;
        case LINEAR_BIAS: shape_vector(p, p->out_channels[i], out); break;
        case LINEAR_MASK: shape_mask(p, out); break;
        default: *out = (plane_shape){p->dtype, 2, {p->out_channels[i], p->in_channels[i]}, p->in_channels[i]}; break;
    }
}

int64_t linear_terms(const braid_problem *p) {
    int64_t most = 1;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return p->batch;
    for (int i = 0; i < p->streams; i++) {
        int64_t sum = p->pass == BRAID_PASS_FWD ? p->in_channels[i] + 1 : p->out_channels[i];
        if (sum > most) most = sum;
    }
    return most;
}

void linear_draw(rng *r, braid_problem *p) {
    p->bias = draw_chance(r, 50);
    draw_product(r, p);
}

const op_info op_linear = {
    .name = "linear",
    .summary = "matrix product with the weights of every stream",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(bias) | FIELD_BIT(mask) |
              FIELD_BIT(cp) | FIELD_BIT(kp) | FIELD_BIT(tf32),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [LINEAR_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [LINEAR_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [LINEAR_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [LINEAR_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [LINEAR_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
        },
    .planes = planes,
    .shape = linear_shape,
    .flops = product_flops,
    .terms = linear_terms,
    .draw = linear_draw,
    .shrink = shrink_rows,
};
