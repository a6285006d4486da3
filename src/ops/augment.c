/*
 * augment: images of bytes become normalised planes, and on the way every sample of every stream is changed at
 * random as src/ops/augment.h says: mirrored, cropped or resampled (all streams alike), adjusted, blurred, made
 * grey, normalised, erased in part. docs/ops/augment.md has the formulas. cp is the pixel pitch of the output y.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/augment.h"

#include "core/dtype.h"
#include "ops/shapes.h"

static int planes(const braid_problem *p, int slot) {
    return slot == AUGMENT_KEY || slot == AUGMENT_IDS ? 1 : p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    switch (slot) {
        case AUGMENT_X: shape_bytes(p, i, out); break;
        case AUGMENT_KEY: *out = (plane_shape){BRAID_DTYPE_I64, 1, {2}, 2}; break;
        case AUGMENT_IDS: *out = (plane_shape){BRAID_DTYPE_I64, 2, {p->batch, 1}, 1}; break;
        case AUGMENT_SETTINGS_TABLE: shape_statistics(p, AUGMENT_SETTINGS, out); break;
        case AUGMENT_Y: shape_pixels(p, p->out_size, p->in_channels[i], p->in_pitch[i], out); break;
        default: shape_statistics(p, p->in_channels[i], out); break;
    }
}

static double outputs(const braid_problem *p) {
    return shape_total(p) / (double)p->size[0] / (double)p->size[1] * (double)p->out_size[0] * (double)p->out_size[1];
}

/* Of a sample to which everything happens. */
static double flops(const braid_problem *p) { return (p->phase == BRAID_PHASE_TRAIN ? 80 : 2) * outputs(p); }

/* The mean behind the contrast is a sum over the whole output image. */
static int64_t terms(const braid_problem *p) { return p->out_size[0] * p->out_size[1] + 64; }

/* ---- What a check puts in ------------------------------------------------------------------ */

static double draw_share(rng *r) { return draw_chance(r, 30) ? 0 : draw_chance(r, 40) ? 1 : 0.5; }

/* All of them equal: what the streams share. */
static void fill_shared_settings(rng *r, double *row) {
    row[AUGMENT_FLIP_P] = draw_share(r);
    row[AUGMENT_RESAMPLE] = draw_chance(r, 25);
    row[AUGMENT_RECTANGLE_P] = draw_share(r);
    row[AUGMENT_SCALE_LOW] = draw_chance(r, 50) ? 0.9 : 0.3;
    row[AUGMENT_RATIO_LOW] = draw_chance(r, 50) ? 0.95 : 0.5;
}

static void fill_settings(const braid_problem *p, int i, rng *r, void *data) {
    double row[AUGMENT_SETTINGS];
    rng shared = {.seed = r->seed, .stream = UINT64_MAX};
    augment_usual(row, draw_chance(r, 80), i);
    fill_shared_settings(&shared, row);
    row[AUGMENT_ADJUST_P] = draw_share(r);
    row[AUGMENT_BRIGHTNESS] = rng_uniform(r);
    row[AUGMENT_CONTRAST] = rng_uniform(r);
    row[AUGMENT_SATURATION] = rng_uniform(r);
    row[AUGMENT_HUE] = draw_chance(r, 50) ? 0.11 : 0.5;
    row[AUGMENT_NOISE] = draw_chance(r, 20) ? 0 : 0.15 * rng_uniform(r);
    row[AUGMENT_BLUR_P] = draw_share(r);
    row[AUGMENT_BLUR_TAPS] = (double)rng_between(r, 3, AUGMENT_MOST_TAPS);
    row[AUGMENT_SIGMA_HIGH] = draw_chance(r, 50) ? 1.7 : 5;
    row[AUGMENT_GREY_P] = draw_chance(r, 50) ? 0 : draw_share(r);
    row[AUGMENT_ERASE_P] = draw_share(r);
    row[AUGMENT_AREA_HIGH] = draw_chance(r, 50) ? 0.1 : 0.5;
    for (int j = 0; j < AUGMENT_SETTINGS; j++) dtype_store(data, dtype_statistics(p->dtype), j, row[j]);
}

static int64_t draw_integer(rng *r) { return rng_between(r, INT64_MIN, INT64_MAX); }

static void fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    int64_t *integers = data;
    switch (slot) {
        case AUGMENT_X: fill_bytes(p, i, r, data); break;
        case AUGMENT_SETTINGS_TABLE: fill_settings(p, i, r, data); break;
        default:
            for (int64_t j = 0; j < (slot == AUGMENT_KEY ? 2 : p->batch); j++) integers[j] = draw_integer(r);
            break;
    }
}

/* ---- Random problems ----------------------------------------------------------------------- */

/* One element of the reference looks at the whole image and at the taps of a blur. */
static double draw_work(const braid_problem *p) {
    return outputs(p) * ((double)p->out_size[0] * (double)p->out_size[1] + 50);
}

static void draw(rng *r, braid_problem *p) {
    p->phase = draw_chance(r, 90) ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
    for (int i = 0; i < p->streams; i++) {
        p->in_channels[i] = draw_chance(r, 50) ? 3 : draw_chance(r, 50) ? 1 : draw_size(r, 5);
    }
    for (int axis = 0; axis < 2; axis++) {
        p->size[axis] = draw_size(r, 33);
        p->out_size[axis] = draw_chance(r, 85) ? rng_between(r, 1, p->size[axis]) : draw_size(r, 24);
    }
    while (draw_work(p) > DRAW_FLOPS / 2 && p->batch > 1) p->batch = (p->batch + 1) / 2;
    while (draw_work(p) > DRAW_FLOPS / 2) {
        int axis = p->out_size[0] > p->out_size[1] ? 0 : 1;
        p->out_size[axis] = (p->out_size[axis] + 1) / 2;
        if (p->out_size[0] == 1 && p->out_size[1] == 1) break;
    }
}

static void shrink(braid_problem *p) {
    if (p->batch > 3) p->batch = 3;
    for (int axis = 0; axis < 2; axis++) {
        p->size[axis] = shrink_size(p->size[axis], 40);
        p->out_size[axis] = shrink_size(p->out_size[axis], 24);
    }
}

const op_info op_augment = {
    .name = "augment",
    .summary = "bytes to numbers, changed at random: mirror, crop, colour, blur, noise, erase",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields =
        FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(phase) | FIELD_BIT(out) | FIELD_BIT(cp),
    .max_streams = BRAID_MAX_STREAMS,
    .operands =
        {
            [AUGMENT_X] = {"x", FILL_OWN, {ROLE_IN}},
            [AUGMENT_KEY] = {"key", FILL_OWN, {ROLE_IN}},
            [AUGMENT_IDS] = {"ids", FILL_OWN, {ROLE_IN}},
            [AUGMENT_SETTINGS_TABLE] = {"settings", FILL_OWN, {ROLE_IN}},
            [AUGMENT_MEAN] = {"mean", FILL_SIGNED, {ROLE_IN}},
            [AUGMENT_STD] = {"std", FILL_POSITIVE, {ROLE_IN}},
            [AUGMENT_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .fill = fill,
    .draw = draw,
    .shrink = shrink,
};
