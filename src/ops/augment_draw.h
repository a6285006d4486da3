/*
 * The draws of augment.h, in the part of C that CUDA compiles too: src/ops/augment_draw.c makes them for the CPU and
 * augment.cu for the GPU, bit for bit alike. Only + - * / and sqrt make a draw, which IEEE 754 rounds exactly, so that
 * a sample is cropped and erased alike on every machine; the weights of a blur use exp.
 *
 * Before it is included: DRAW_CODE (how a function is declared), and three functions of a `rng`: numbers_u32 gives the
 * next number of a sequence, numbers_between one of a range (core/rng.h), and numbers_mix is philox4x32.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_AUGMENT_DRAW_H
#define BRAID_OPS_AUGMENT_DRAW_H

#include <math.h>
#include <string.h>

#include "ops/augment.h"

#define DRAW_TRIES 10 /* to find a rectangle that fits */

/* What a sequence of numbers is for. Those of the first two are shared by all streams. */
typedef enum draw_transform {
    DRAW_FLIP,
    DRAW_CROP,
    DRAW_ADJUST,
    DRAW_NOISE,
    DRAW_BLUR,
    DRAW_GREY,
    DRAW_ERASE
} draw_transform;

/* What the draws need to know of a problem. */
typedef struct draw_frame {
    int64_t size[2], out_size[2];
    int is_train, has_colours; /* of the stream: 3 channels */
} draw_frame;

DRAW_CODE double draw_within(double value, double low, double high) { return value > low ? fmin(value, high) : low; }

/* A product that no compiler fuses with a sum. */
DRAW_CODE double draw_product(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* The numbers of one transform of one sample: a seed of their own from all that names the sample. */
DRAW_CODE rng draw_numbers(const int64_t key[2], int64_t id, uint64_t who, draw_transform what) {
    const uint64_t seed = (uint64_t)key[0], step = (uint64_t)key[1], sample = (uint64_t)id;
    const uint32_t counter[4] = {(uint32_t)step, (uint32_t)(step >> 32), (uint32_t)sample, (uint32_t)(sample >> 32)};
    const uint32_t words[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t mixed[4];
    rng r;
    numbers_mix(mixed, counter, words);
    r.seed = mixed[0] | (uint64_t)mixed[1] << 32;
    r.stream = who << 8 | (uint64_t)what;
    r.index = 0;
    return r;
}

DRAW_CODE double draw_unit(rng *r) { return numbers_u32(r) * 0x1p-32; }

DRAW_CODE int draw_happens(rng *r, double share) { return draw_unit(r) < share; }

DRAW_CODE double draw_uniform(rng *r, double low, double high) { return low + draw_product(high - low, draw_unit(r)); }

/* low^(1-u) high^u for a uniform u: the logarithm is uniform. The power is made of square roots, one for each bit. */
DRAW_CODE double draw_log_uniform(rng *r, double low, double high) {
    uint32_t bits = numbers_u32(r);
    double root = high / low, power = low;
    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1) {
        root = sqrt(root);
        if (bits & bit) power *= root;
    }
    return power;
}

/* ---- Rectangles ---------------------------------------------------------------------------- */

/* Area and sides of a rectangle, as shares and as ratios. */
typedef struct draw_range {
    double area_low, area_high, ratio_low, ratio_high;
} draw_range;

DRAW_CODE draw_range draw_range_of(const double *settings, int area, int ratio) {
    draw_range a;
    a.area_low = draw_within(settings[area], 0, 1);
    a.area_high = draw_within(settings[area + 1], 0, 1);
    a.ratio_low = draw_within(settings[ratio], 1e-3, 1e3);
    a.ratio_high = draw_within(settings[ratio + 1], 1e-3, 1e3);
    return a;
}

DRAW_CODE augment_rectangle draw_rectangle(int64_t top, int64_t left, int64_t height, int64_t width) {
    augment_rectangle a;
    a.top = top;
    a.left = left;
    a.height = height;
    a.width = width;
    return a;
}

/* Sides of an area drawn from the range; `*first` over `*second` is the ratio. */
DRAW_CODE void draw_sides(rng *r, const draw_range *a, double whole, double *first, double *second) {
    double area = whole * draw_uniform(r, a->area_low, a->area_high);
    double ratio = draw_log_uniform(r, a->ratio_low, a->ratio_high);
    *first = rint(sqrt(draw_product(area, ratio)));
    *second = rint(sqrt(area / ratio));
}

/* The largest rectangle in the middle whose ratio is in the range, for an image that none of the drawn ones fits. */
DRAW_CODE augment_rectangle draw_middle(const int64_t size[2], const draw_range *a) {
    int64_t height = size[0], width = size[1];
    double ratio = (double)size[1] / (double)size[0];
    if (ratio < a->ratio_low) height = (int64_t)draw_within(rint((double)size[1] / a->ratio_low), 1, (double)size[0]);
    if (ratio > a->ratio_high) width = (int64_t)draw_within(rint((double)size[0] * a->ratio_high), 1, (double)size[1]);
    return draw_rectangle((size[0] - height) / 2, (size[1] - width) / 2, height, width);
}

DRAW_CODE augment_rectangle draw_source(rng *r, const int64_t size[2], const draw_range *a) {
    double height = (double)size[0], width = (double)size[1], h, w;
    for (int attempt = 0; attempt < DRAW_TRIES; attempt++) {
        draw_sides(r, a, height * width, &w, &h);
        if (w < 1 || w > width || h < 1 || h > height) continue;
        int64_t top = numbers_between(r, 0, size[0] - (int64_t)h), left = numbers_between(r, 0, size[1] - (int64_t)w);
        return draw_rectangle(top, left, (int64_t)h, (int64_t)w);
    }
    return draw_middle(size, a);
}

DRAW_CODE augment_rectangle draw_erased(rng *r, const int64_t size[2], const draw_range *a) {
    double height = (double)size[0], width = (double)size[1], h, w;
    for (int attempt = 0; attempt < DRAW_TRIES; attempt++) {
        draw_sides(r, a, height * width, &h, &w);
        if (h >= height || w >= width) continue;
        int64_t top = numbers_between(r, 0, size[0] - (int64_t)h), left = numbers_between(r, 0, size[1] - (int64_t)w);
        return draw_rectangle(top, left, (int64_t)h, (int64_t)w);
    }
    return draw_rectangle(0, 0, 0, 0);
}

/* The middle of one axis; of two middles the even one. */
DRAW_CODE int64_t draw_middle_of(int64_t size, int64_t part) {
    int64_t twice = size - part;
    return twice / 2 + (twice % 2 && twice / 2 % 2);
}

/* What the streams share. */
DRAW_CODE void draw_place(const draw_frame *f, const int64_t key[2], int64_t id, const double *s, augment_draws *out) {
    rng flip = draw_numbers(key, id, 0, DRAW_FLIP), crop = draw_numbers(key, id, 0, DRAW_CROP);
    draw_range a = draw_range_of(s, AUGMENT_SCALE_LOW, AUGMENT_RATIO_LOW);
    out->flip = f->is_train && draw_happens(&flip, s[AUGMENT_FLIP_P]);
    out->resample = s[AUGMENT_RESAMPLE] > 0 || f->out_size[0] > f->size[0] || f->out_size[1] > f->size[1];
    out->source = draw_rectangle(0, 0, f->size[0], f->size[1]);
    if (out->resample) {
        if (f->is_train && draw_happens(&crop, s[AUGMENT_RECTANGLE_P])) out->source = draw_source(&crop, f->size, &a);
        return;
    }
    out->source.height = f->out_size[0];
    out->source.width = f->out_size[1];
    for (int axis = 0; axis < 2; axis++) {
        int64_t room = f->size[axis] - f->out_size[axis];
        int64_t at = f->is_train ? numbers_between(&crop, 0, room) : draw_middle_of(f->size[axis], f->out_size[axis]);
        *(axis ? &out->source.left : &out->source.top) = at;
    }
}

/* ---- Values -------------------------------------------------------------------------------- */

DRAW_CODE double draw_factor(rng *r, double reach) {
    reach = draw_within(reach, 0, 8);
    return draw_uniform(r, fmax(0.0, 1 - reach), 1 + reach);
}

DRAW_CODE void draw_adjustments(rng *r, const double *s, augment_draws *out) {
    out->adjust = draw_happens(r, s[AUGMENT_ADJUST_P]);
    for (int j = 0; j < AUGMENT_STEPS; j++) out->order[j] = (augment_step)j;
    for (int j = AUGMENT_STEPS - 1; j > 0; j--) {
        int other = (int)numbers_between(r, 0, j);
        augment_step step = out->order[j];
        out->order[j] = out->order[other];
        out->order[other] = step;
    }
    out->brightness = draw_factor(r, s[AUGMENT_BRIGHTNESS]);
    out->contrast = draw_factor(r, s[AUGMENT_CONTRAST]);
    out->saturation = draw_factor(r, s[AUGMENT_SATURATION]);
    double reach = draw_within(s[AUGMENT_HUE], 0, 0.5);
    out->hue = draw_uniform(r, -reach, reach);
    out->noise = draw_within(s[AUGMENT_NOISE], 0, 8);
}

DRAW_CODE void draw_blur(rng *r, const double *s, augment_draws *out) {
    int64_t widest = (int64_t)draw_within(s[AUGMENT_BLUR_TAPS], 3, AUGMENT_MOST_TAPS);
    int blur = draw_happens(r, s[AUGMENT_BLUR_P]);
    int taps = 3 + 2 * (int)numbers_between(r, 0, (widest - 3) / 2);
    double low = draw_within(s[AUGMENT_SIGMA_LOW], 1e-3, 1e3), high = draw_within(s[AUGMENT_SIGMA_HIGH], 1e-3, 1e3);
    double sigma = draw_uniform(r, low, high), sum = 0;
    out->blur_taps = blur ? taps : 0;
    for (int j = 0; j < out->blur_taps; j++) {
        double away = (j - taps / 2) / sigma;
        sum += out->blur_weights[j] = exp(-0.5 * away * away);
    }
    for (int j = 0; j < out->blur_taps; j++) out->blur_weights[j] /= sum;
}

DRAW_CODE void draw_sample(const draw_frame *f, const int64_t key[2], int64_t id,
                           const double settings[AUGMENT_SETTINGS], augment_draws *out) {
    uint64_t who = 1 + (uint64_t)draw_within(settings[AUGMENT_NUMBER], 0, 1e6);
    memset(out, 0, sizeof *out);
    out->colour = settings[AUGMENT_KIND] > 0 && f->has_colours;
    draw_place(f, key, id, settings, out);
    if (!f->is_train) return;
    rng adjust = draw_numbers(key, id, who, DRAW_ADJUST), blur = draw_numbers(key, id, who, DRAW_BLUR);
    rng grey = draw_numbers(key, id, who, DRAW_GREY), erase = draw_numbers(key, id, who, DRAW_ERASE);
    draw_adjustments(&adjust, settings, out);
    out->noise_numbers = draw_numbers(key, id, who, DRAW_NOISE);
    if (out->colour) draw_blur(&blur, settings, out);
    out->grey = out->colour && draw_happens(&grey, settings[AUGMENT_GREY_P]);
    draw_range a = draw_range_of(settings, AUGMENT_AREA_LOW, AUGMENT_SHAPE_LOW);
    if (draw_happens(&erase, settings[AUGMENT_ERASE_P])) out->erased = draw_erased(&erase, f->out_size, &a);
}

/* ---- Places -------------------------------------------------------------------------------- */

DRAW_CODE int64_t draw_reflect(int64_t at, int64_t size) {
    int64_t turn = size > 1 ? 2 * (size - 1) : 1, inside = at % turn;
    if (inside < 0) inside += turn;
    return inside < size ? inside : turn - inside;
}

/* The width of a place of the output, in places of the input. */
DRAW_CODE double draw_tap_scale(int64_t from, int64_t to) { return (double)from / (double)to; }

DRAW_CODE void draw_taps(int64_t from, int64_t to, int64_t out, int64_t *first, int64_t *count) {
    double scale = draw_tap_scale(from, to), reach = fmax(scale, 1.0);
    double middle_at = draw_product(scale, (double)out + 0.5);
    double begin = fmax(middle_at - reach + 0.5, 0.0), end = fmin(middle_at + reach + 0.5, (double)from);
    *first = (int64_t)begin;
    *count = (int64_t)end - *first;
}

DRAW_CODE double draw_tap_weight(int64_t from, int64_t to, int64_t out, int64_t tap) {
    double scale = draw_tap_scale(from, to), reach = fmax(scale, 1.0);
    double middle_at = draw_product(scale, (double)out + 0.5);
    return fmax(0.0, 1 - fabs((double)tap + 0.5 - middle_at) / reach);
}

#endif
