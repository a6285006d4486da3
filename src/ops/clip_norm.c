/*
 * clip_norm: what an update needs to know of all gradients together, and the factor of the next loss.
 *
 *   divisor = loss_scale * scaling.batches
 *   norm    = ||g|| / divisor, in double, rounded once
 *   scale   = (limit > 0 ? min(1, limit / (norm + 1e-6)) : 1) / divisor
 *   step    = step + 1
 *
 * Where norm, scale or loss is not finite, scale is NaN and step stays: the optimiser then skips its update. In
 * any case loss_scale and scaling become what ops/scaling.h makes of them.
 * g is the arena [c] of all gradients, summed over so many batches and still multiplied by loss_scale. The last zi of
 * them may come as h, in the dtype of the problem: they are cast to y on the way, and g has the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "ops/scaling.h"
#include "ops/update.h"

static int planes(const braid_problem *p, int slot) {
    return slot == CLIP_NORM_H || slot == CLIP_NORM_Y ? p->integrated_in > 0 : 1;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    (void)i;
    if (slot == CLIP_NORM_STEP)
        shape_counter(out);
    else if (slot == CLIP_NORM_SCALING)
        *out = (plane_shape){BRAID_DTYPE_I64, 1, {SCALING_COUNT}, SCALING_COUNT};
    else if (slot == CLIP_NORM_H)
        *out = (plane_shape){p->dtype, 1, {p->integrated_in}, p->integrated_in};
    else if (slot == CLIP_NORM_Y)
        shape_statistics(p, p->integrated_in, out);
    else
        shape_statistics(p, slot == CLIP_NORM_G ? p->in_channels[0] - p->integrated_in : 1, out);
}

static braid_status check(const braid_problem *p) {
    if (p->integrated_in <= p->in_channels[0]) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "clip_norm: expected zi, the elements in half precision, of at most c, got %lld",
                (long long)p->integrated_in);
}

static double flops(const braid_problem *p) { return 2 * (double)p->in_channels[0]; }

/* The sum is made in double: what is left are the roundings of the last few operations. */
static int64_t terms(const braid_problem *p) {
    (void)p;
    return 4;
}

static void fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    static const double scales[] = {1, 3, 0.125, 65536};
    static const int64_t good[] = {0, 7, SCALING_GROWS_AFTER - 2, SCALING_GROWS_AFTER - 1};
    (void)i;
    if (slot == CLIP_NORM_SCALING) {
        int64_t *table = data;
        table[SCALING_MODE] = rng_between(r, SCALING_FIXED, SCALING_DYNAMIC);
        table[SCALING_BATCHES] = rng_between(r, 1, 4);
        table[SCALING_GOOD] = good[rng_between(r, 0, 3)];
        table[SCALING_BAD] = rng_between(r, 0, SCALING_MOST_BAD);
        table[SCALING_SKIPPED] = rng_between(r, 0, 99);
        return;
    }
    dtype_store(data, dtype_statistics(p->dtype), 0, scales[rng_between(r, 0, 3)]);
}

static void draw(rng *r, braid_problem *p) {
    parameters_draw(r, p);
    p->integrated_in = draw_chance(r, 70) ? 0 : rng_between(r, 1, p->in_channels[0]);
    p->limit = draw_chance(r, 25) ? 0 : draw_chance(r, 30) ? 1 : 0.01 * (double)rng_between(r, 1, 9999);
}

const op_info op_clip_norm = {
    .name = "clip_norm",
    .summary = "norm of all gradients and the factor that limits it",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = FIELD_BIT(n) | FIELD_BIT(c) | FIELD_BIT(zi) | FIELD_BIT(limit),
    .reals = {{FIELD_limit, 0, 1e30}},
    .max_streams = 1,
    .operands =
        {
            [CLIP_NORM_G] = {"g", FILL_SIGNED, {ROLE_IN}},
            [CLIP_NORM_LOSS] = {"loss", FILL_POSITIVE, {ROLE_IN}},
            [CLIP_NORM_LOSS_SCALE] = {"loss_scale", FILL_OWN, {ROLE_INOUT}},
            [CLIP_NORM_SCALING] = {"scaling", FILL_OWN, {ROLE_INOUT}},
            [CLIP_NORM_NORM] = {"norm", FILL_POSITIVE, {ROLE_OUT}},
            [CLIP_NORM_SCALE] = {"scale", FILL_POSITIVE, {ROLE_OUT}},
            [CLIP_NORM_STEP] = {"step", FILL_COUNTER, {ROLE_INOUT}},
            [CLIP_NORM_H] = {"h", FILL_SIGNED, {ROLE_IN}},
            [CLIP_NORM_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .fill = fill,
    .draw = draw,
    .shrink = parameters_shrink,
};
