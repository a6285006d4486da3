/*
 * layernorm: y = (x - mean) * rstd * gamma + beta over the channels of every pixel of every stream, with
 * rstd = 1 / sqrt(var + eps) and the biased variance. Statistics are made again where a gradient needs them.
 *
 *   dx     = rstd * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma, xhat = (x - mean) * rstd
 *   dgamma = the sum over pixels of dy * xhat, dbeta = the sum of dy
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    if (slot == LAYERNORM_GAMMA || slot == LAYERNORM_BETA)
        shape_statistics(p, p->in_channels[i], out);
    else
        shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out);
}

static double flops(const braid_problem *p) {
    static const double each[BRAID_PASS_COUNT] = {8, 16, 8};
    return each[p->pass] * shape_total(p);
}

/* The sum over a row, or over the pixels, and the four operations behind it. */
static int64_t terms(const braid_problem *p) {
    int64_t most = 1;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) return p->batch * p->size[0] * p->size[1] + 4;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] > most) most = p->in_channels[i];
    }
    return most + 4;
}

/* The reference makes the statistics of a row anew for every output. */
#define DRAW_WORK 1e6

static void draw(rng *r, braid_problem *p) {
    int64_t widest = 1;
    if (draw_chance(r, 40)) p->in_channels[0] = draw_size(r, 257);
    draw_pixels(r, p);
    p->eps = draw_chance(r, 70) ? 1e-5 : 0.1;
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] > widest) widest = p->in_channels[i];
    }
    while (shape_total(p) * (double)widest > DRAW_WORK && p->size[0] > 1) p->size[0] = (p->size[0] + 1) / 2;
    while (shape_total(p) * (double)widest > DRAW_WORK && p->size[1] > 1) p->size[1] = (p->size[1] + 1) / 2;
}

const op_info op_layernorm = {
    .name = "layernorm",
    .summary = "normalise the channels of every pixel",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(eps) | FIELD_BIT(cp),
    .reals = {{FIELD_eps, 1e-5, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [LAYERNORM_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},
            [LAYERNORM_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_DOUT}},
            [LAYERNORM_BETA] = {"beta", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [LAYERNORM_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN, ROLE_DIN}},
            [LAYERNORM_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT, ROLE_NONE}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = draw,
    .shrink = shrink_pixels,
};
