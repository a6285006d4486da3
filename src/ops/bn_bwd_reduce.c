/*
 * bn_bwd_reduce: the two sums of the backward pass, for every channel over the active samples:
 * dbeta = sum dy,  dgamma = sum dy * (x - center) * rstd.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) { return slot == BN_BWD_REDUCE_MASK && !p->mask ? 0 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case BN_BWD_REDUCE_X:
        case BN_BWD_REDUCE_DY: bn_shape_pixels(p, i, out); break;
        case BN_BWD_REDUCE_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

static double flops(const braid_problem *p) { return 4 * shape_total(p); }

const op_info op_bn_bwd_reduce = {
    .name = "bn_bwd_reduce",
    .summary = "gradients of gamma and beta",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = BN_PIXEL_FIELDS,
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD,
    .operands =
        {
            [BN_BWD_REDUCE_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_REDUCE_DY] = {"dy", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_REDUCE_CENTER] = {"center", FILL_SIGNED, {ROLE_IN}},
            [BN_BWD_REDUCE_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_IN}},
            [BN_BWD_REDUCE_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [BN_BWD_REDUCE_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_OUT}},
            [BN_BWD_REDUCE_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = bn_terms,
    .draw = bn_draw,
    .shrink = shrink_pixels,
};
