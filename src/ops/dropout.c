/*
 * dropout: y = x / (1 - rate) where a value is kept, else 0; the gradient is the same rule on dy, with the same bits
 * made again. key = {seed, step} lies in memory, so that a captured step can change it. Element e of plane i,
 * counted densely over [B][H][W][C], is kept where the upper 24 bits of number e of the sequence
 * (seed, 16 step + i) of core/rng.h are rate * 2^24 or more.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "ops/shapes.h"

uint64_t dropout_stream(const int64_t *key, int i) { return (uint64_t)key[1] * 16 + (uint64_t)i; }

int32_t dropout_limit(const braid_problem *p) { return (int32_t)ceil(p->rate * 0x1p24); }

static braid_status check(const braid_problem *p) {
    if (p->rate < 1) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "dropout: expected rate of at least 0 and below 1, got %g", p->rate);
}

static int planes(const braid_problem *p, int slot) { return slot == DROPOUT_KEY ? 1 : p->streams; }

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    if (slot == DROPOUT_KEY)
        *out = (plane_shape){BRAID_DTYPE_I64, 1, {2}, 2};
    else
        shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out);
}

/* Ten rounds of about eight operations make the bits of four values. */
static double flops(const braid_problem *p) { return 21 * shape_total(p); }

static int64_t terms(const braid_problem *p) {
    (void)p;
    return 1;
}

static void fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    int64_t *key = data;
    (void)p;
    (void)slot;
    (void)i;
    key[0] = rng_between(r, INT64_MIN, INT64_MAX);
    key[1] = rng_between(r, 0, 1000000);
}

static void draw(rng *r, braid_problem *p) {
    p->rate = draw_chance(r, 10) ? 0 : draw_chance(r, 40) ? 0.5 : (double)rng_between(r, 1, 99) / 100;
    draw_pixels(r, p);
}

const op_info op_dropout = {
    .name = "dropout",
    .summary = "drops a share of the values, drawn from a counter",
    .passes = 1u << BRAID_PASS_FWD | 1u << BRAID_PASS_BWD_DATA,
    .fields = FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(rate) | FIELD_BIT(cp),
    .reals = {{FIELD_rate, 0, 1}},
    .max_streams = BRAID_MAX_PLANES,
    .operands =
        {
            [DROPOUT_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_DOUT}},
            [DROPOUT_KEY] = {"key", FILL_OWN, {ROLE_IN, ROLE_IN}},
            [DROPOUT_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_DIN}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .fill = fill,
    .draw = draw,
    .shrink = shrink_pixels,
};
