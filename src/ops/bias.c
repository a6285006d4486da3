/*
 * bias: y = x + bias, a number for every channel; blanked samples give exact zeros. Where a convolution's raw output is
 * wanted beside the biased one, this makes the one of the other. bwd_weight gives dbias, the sum of dy over the pixels
 * of the active samples; dx is dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) { return slot == BIAS_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BIAS_X:
        case BIAS_Y: shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out); break;
        case BIAS_MASK: shape_mask(p, out); break;
        default: shape_vector(p, p->in_channels[i], out); break;
    }
}

static int64_t terms(const braid_problem *p) {
    return p->pass == BRAID_PASS_FWD ? 2 : p->batch * p->size[0] * p->size[1];
}

const op_info op_bias = {
    .name = "bias",
    .summary = "a number added to every channel",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_WEIGHT,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(mask) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_WEIGHT,
    .operands =
        {
            [BIAS_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_NONE}},
            [BIAS_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN, ROLE_NONE, ROLE_DOUT}},
            [BIAS_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_NONE, ROLE_IN}},
            [BIAS_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_NONE, ROLE_DIN}},
        },
    .planes = planes,
    .shape = shape,
    .flops = shape_total,
    .terms = terms,
    .draw = draw_pixels,
    .shrink = shrink_pixels,
};
