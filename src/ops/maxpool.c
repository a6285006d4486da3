/*
 * maxpool: y[b][p][q][c] = the largest x in a window; padding counts as minus infinity. Of equal values
 * the first in row order is taken, and a NaN beats every number (the last NaN of several), as frameworks
 * do. The gradient goes to the place that was taken; it is found again from x, nothing is stored.
 * With ceil1 a last window may end beyond the padding, but must begin inside the input or its left padding.
 * A dilated window with all its places in the padding gives minus infinity and has no gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

int64_t maxpool_out_size(const braid_problem *p, int axis) {
    int64_t reach = p->dilation[axis] * (p->filter[axis] - 1) + 1;
    int64_t room = p->size[axis] + 2 * p->padding[axis] - reach;
    if (p->ceil_mode) room += p->stride[axis] - 1;
    if (room < 0) return 0;
    int64_t out = room / p->stride[axis] + 1;
    if (p->ceil_mode && (out - 1) * p->stride[axis] >= p->size[axis] + p->padding[axis]) out--;
    return out;
}

braid_status maxpool_check(const braid_problem *p) {
    static const char *const axis_name[] = {"height", "width"};
    for (int axis = 0; axis < 2; axis++) {
        int64_t reach = p->dilation[axis] * (p->filter[axis] - 1) + 1;
        if (p->padding[axis] > reach / 2) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected pad (padding) of at most half the %s of the window, %lld, got %lld",
                        op_of(p)->name, axis_name[axis], (long long)(reach / 2), (long long)p->padding[axis]);
        }
        if (maxpool_out_size(p, axis) < 1) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected rs (filter) %lld with dil%lld to fit in the %s %lld with pad%lld", op_of(p)->name,
                        (long long)p->filter[axis], (long long)p->dilation[axis], axis_name[axis],
                        (long long)p->size[axis], (long long)p->padding[axis]);
        }
    }
    return BRAID_OK;
}

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const int64_t out_size[2] = {maxpool_out_size(p, 0), maxpool_out_size(p, 1)};
    shape_pixels(p, slot == MAXPOOL_Y ? out_size : p->size, p->in_channels[i], p->in_pitch[i], out);
}

static double flops(const braid_problem *p) {
    double channels = 0;
    for (int i = 0; i < p->streams; i++) channels += (double)p->in_channels[i];
    return channels * (double)p->batch * (double)(maxpool_out_size(p, 0) * maxpool_out_size(p, 1)) *
           (double)(p->filter[0] * p->filter[1]);
}

static int64_t terms(const braid_problem *p) { return p->filter[0] * p->filter[1]; }

void maxpool_draw(rng *r, braid_problem *p) {
    draw_pixels(r, p);
    p->ceil_mode = draw_chance(r, 40);
    for (int axis = 0; axis < 2; axis++) {
        p->filter[axis] = rng_between(r, 1, 4);
        p->dilation[axis] = draw_chance(r, 80) ? 1 : 2;
        p->stride[axis] = rng_between(r, 1, 3);
        int64_t reach = p->dilation[axis] * (p->filter[axis] - 1) + 1;
        p->padding[axis] = rng_between(r, 0, reach / 2);
        while (maxpool_out_size(p, axis) < 1) p->size[axis]++;
    }
}

void maxpool_shrink(braid_problem *p) {
    shrink_pixels(p);
    for (int axis = 0; axis < 2; axis++) {
        while (maxpool_out_size(p, axis) < 1) p->size[axis]++;
    }
}

const op_info op_maxpool = {
    .name = "maxpool",
    .summary = "largest value of every window",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(rs) | FIELD_BIT(st) |
              FIELD_BIT(pad) | FIELD_BIT(dil) | FIELD_BIT(ceil) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_PLANES,
    .exact_passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .operands =
        {
            [MAXPOOL_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN}},
            [MAXPOOL_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
            [MAXPOOL_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT}},
        },
    .check = maxpool_check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .draw = maxpool_draw,
    .shrink = maxpool_shrink,
};
