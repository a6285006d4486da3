/*
 * bn_stats: mean and biased variance of every channel of every stream, over the active samples.
 * A stream without an active sample has mean 0 and var 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) { return slot == BN_STATS_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_STATS_X: bn_shape_pixels(p, i, out); break;
        case BN_STATS_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return 3 * shape_total(p); }

const op_info op_bn_stats = {
    .name = "bn_stats",
    .summary = "mean and variance of every channel",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS,
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [BN_STATS_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_STATS_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_STATS_MEAN] = {"mean", FILL_SIGNED, {ROLE_OUT}},
            [BN_STATS_VAR] = {"var", FILL_POSITIVE, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = bn_terms,
    .draw = bn_draw,
    .shrink = shrink_pixels,
};
