/*
 * normalize: y = (x / 255 - mean) / std, channel by channel, from images of bytes to planes that a first
 * layer can read. cp is the pixel pitch of the output y, whose lanes behind the channels are zero; the bytes
 * lie dense.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case NORMALIZE_X: shape_bytes(p, i, out); break;
        case NORMALIZE_Y: shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out); break;
        default: shape_statistics(p, p->in_channels[i], out); break;
    }
}

static double flops(const braid_problem *p) { return 2 * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 2;
}

static void fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    (void)slot;
    fill_bytes(p, i, r, data);
}

const op_info op_normalize = {
    .name = "normalize",
    .summary = "bytes to numbers: less the mean, over the deviation, per channel",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_STREAMS,
    .operands =
        {
            [NORMALIZE_X] = {"x", FILL_OWN, {ROLE_IN}},
            [NORMALIZE_MEAN] = {"mean", FILL_SIGNED, {ROLE_IN}},
            [NORMALIZE_STD] = {"std", FILL_POSITIVE, {ROLE_IN}},
            [NORMALIZE_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .fill = fill,
    .draw = draw_pixels,
    .shrink = shrink_pixels,
};
