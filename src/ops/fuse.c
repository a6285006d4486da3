/*
 * fuse: the features x_i [B][C_i] of n streams as one vector y [B][sum of C_i], side by side.
 *
 *   concat    y_i = x_i
 *   weighted  y_i = n * s_i * x_i, s = softmax of logits [n]
 *   gated     y_i = s_i * x_i, s = softmax of logits [B][n], sample by sample
 *
 * Gradients: dx_i is dy_i by the same factor; with t_i the sum of x_i * dy_i (times n where weighted), over all
 * samples or over one, dlogits_j = s_j * (t_j - sum over i of s_i * t_i). concat has no logits and no such pass.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "ops/shapes.h"

int64_t fuse_width(const braid_problem *p) {
    int64_t width = 0;
    for (int i = 0; i < p->streams; i++) width += p->in_channels[i];
    return width;
}

static braid_status check(const braid_problem *p) {
    if (p->pass != BRAID_PASS_BWD_WEIGHT || p->fusion != BRAID_FUSION_CONCAT) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT,
                "fuse_bwd_weight: expected fuse=weighted or fuse=gated, got fuse=concat, which has no logits");
}

static int planes(const braid_problem *p, int slot) {
    if (slot == FUSE_X) return p->streams;
    return slot == FUSE_Y || p->fusion != BRAID_FUSION_CONCAT;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case FUSE_X: *out = (plane_shape){p->dtype, 2, {p->batch, p->in_channels[i]}, p->in_pitch[i]}; break;
        case FUSE_Y: shape_matrix(p, p->batch, fuse_width(p), out); break;
        default:
            if (p->fusion == BRAID_FUSION_GATED)
                *out = (plane_shape){dtype_statistics(p->dtype), 2, {p->batch, p->streams}, p->streams};
            else
                shape_statistics(p, p->streams, out);
            break;
    }
}

static double flops(const braid_problem *p) {
    double values = (double)p->batch * (double)fuse_width(p);
    if (p->fusion == BRAID_FUSION_CONCAT) return values;
    return (p->pass == BRAID_PASS_BWD_WEIGHT ? 2 : 1) * values + 20.0 * (double)p->batch * p->streams;
}

static int64_t terms(const braid_problem *p) {
    if (p->pass != BRAID_PASS_BWD_WEIGHT) return 4;
    return 4 + fuse_width(p) * (p->fusion == BRAID_FUSION_GATED ? 1 : p->batch);
}

static void draw(rng *r, braid_problem *p) {
    braid_fusion first = p->pass == BRAID_PASS_BWD_WEIGHT ? BRAID_FUSION_WEIGHTED : BRAID_FUSION_CONCAT;
    p->fusion = (braid_fusion)rng_between(r, first, BRAID_FUSION_COUNT - 1);
    p->batch = draw_size(r, 129);
    for (int i = 0; i < p->streams; i++) p->in_channels[i] = draw_size(r, 257);
    while (flops(p) > DRAW_ELEMENTS && p->batch > 1) p->batch = (p->batch + 1) / 2;
}

const op_info op_fuse = {
    .name = "fuse",
    .summary = "the features of all streams as one vector: side by side, weighted, gated",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(fuse) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [FUSE_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT, ROLE_IN}},
            [FUSE_LOGITS] = {"logits", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [FUSE_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
            [FUSE_DLOGITS] = {"dlogits", FILL_SIGNED, {ROLE_NONE, ROLE_NONE, ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_rows,
};
