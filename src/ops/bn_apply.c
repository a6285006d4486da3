/*
 * bn_apply: y = x * scale + shift, channel by channel; blanked samples give exact zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) { return slot == BN_APPLY_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_APPLY_X:
        case BN_APPLY_Y: bn_shape_pixels(p, i, out); break;
        case BN_APPLY_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return 2 * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 2;
}

const op_info op_bn_apply = {
    .name = "bn_apply",
    .summary = "normalise: multiply and add per channel",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS,
    .max_streams = BRAID_MAX_PLANES,
    .gradient = GRADIENT_NORM,
    .is_cheap = 1,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [BN_APPLY_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_APPLY_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN}},
            [BN_APPLY_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN}},
            [BN_APPLY_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_APPLY_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = bn_draw,
    .shrink = shrink_pixels,
};
