/*
 * matmul: y_i = x_i * w_i for every stream i; x [B][C], y [B][K], and w [C][K], or its transpose [K][C] with trans1.
 * Gradients: dx = dy * w^T; dw = x^T * dy, laid as w is. Weights that are themselves computed (a tied or normalised
 * basis) are used in both layouts without a copy; `linear` is for weights that are parameters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/op.h"
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    int64_t c = p->in_channels[i], k = p->out_channels[i];
    switch (slot) {
        case MATMUL_X: *out = (plane_shape){p->dtype, 2, {p->batch, c}, p->in_pitch[i]}; break;
        case MATMUL_Y: *out = (plane_shape){p->dtype, 2, {p->batch, k}, p->out_pitch[i]}; break;
        default: shape_matrix(p, p->transpose ? k : c, p->transpose ? c : k, out); break;
    }
}

static int64_t terms(const braid_problem *p) {
    int64_t most = 1;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return p->batch;
    for (int i = 0; i < p->streams; i++) {
        int64_t sum = p->pass == BRAID_PASS_FWD ? p->in_channels[i] : p->out_channels[i];
        if (sum > most) most = sum;
    }
    return most;
}

static void draw(rng *r, braid_problem *p) {
    p->transpose = draw_chance(r, 50);
    draw_product(r, p);
}

const op_info op_matmul = {
    .name = "matmul",
    .summary = "matrix product of two operands of every stream",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(trans) | FIELD_BIT(cp) |
              FIELD_BIT(kp) | FIELD_BIT(tf32),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [MATMUL_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [MATMUL_W] = {"w", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [MATMUL_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
        },
    .planes = planes,
    .shape = shape,
    .flops = product_flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_rows,
};
