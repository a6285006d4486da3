/*
 * The draws of augment.h. Only + - * / and sqrt make a draw, which IEEE 754 rounds exactly, so that a sample is
 * cropped and erased alike on every machine; the weights of a blur use exp.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "ops/augment.h"

#define TRIES 10 /* to find a rectangle that fits */

/* What a sequence of numbers is for. Those of the first two are shared by all streams. */
typedef enum transform { DRAW_FLIP, DRAW_CROP, DRAW_ADJUST, DRAW_NOISE, DRAW_BLUR, DRAW_GREY, DRAW_ERASE } transform;

void augment_usual(double row[AUGMENT_SETTINGS], int colour, int number) {
    memcpy(row,
           (const double[AUGMENT_SETTINGS]){
               [AUGMENT_KIND] = colour,
               [AUGMENT_NUMBER] = number,
               [AUGMENT_FLIP_P] = 0.5,
               [AUGMENT_RECTANGLE_P] = 0.5,
               [AUGMENT_SCALE_LOW] = 0.9,
               [AUGMENT_SCALE_HIGH] = 1,
               [AUGMENT_RATIO_LOW] = 0.95,
               [AUGMENT_RATIO_HIGH] = 1.05,
               [AUGMENT_ADJUST_P] = colour ? 0.43 : 0.5,
               [AUGMENT_BRIGHTNESS] = colour ? 0.37 : 0.25,
               [AUGMENT_CONTRAST] = colour ? 0.37 : 0.25,
               [AUGMENT_SATURATION] = 0.37,
               [AUGMENT_HUE] = 0.11,
               [AUGMENT_NOISE] = 0.06,
               [AUGMENT_BLUR_P] = 0.25,
               [AUGMENT_BLUR_TAPS] = 7,
               [AUGMENT_SIGMA_LOW] = 0.1,
               [AUGMENT_SIGMA_HIGH] = 1.7,
               [AUGMENT_GREY_P] = 0.17,
               [AUGMENT_ERASE_P] = colour ? 0.17 : 0.10,
               [AUGMENT_AREA_LOW] = 0.02,
               [AUGMENT_AREA_HIGH] = 0.10,
               [AUGMENT_SHAPE_LOW] = 0.5,
               [AUGMENT_SHAPE_HIGH] = 2,
           },
           sizeof(double[AUGMENT_SETTINGS]));
}

static double within(double value, double low, double high) { return value > low ? fmin(value, high) : low; }

/* ---- Numbers ------------------------------------------------------------------------------- */

/* The numbers of one transform of one sample: a seed of their own from all that names the sample. */
static rng numbers_of(const int64_t key[2], int64_t id, uint64_t who, transform what) {
    const uint64_t seed = (uint64_t)key[0], step = (uint64_t)key[1], sample = (uint64_t)id;
    const uint32_t counter[4] = {(uint32_t)step, (uint32_t)(step >> 32), (uint32_t)sample, (uint32_t)(sample >> 32)};
    const uint32_t words[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t mixed[4];
    philox4x32(mixed, counter, words);
    return (rng){.seed = mixed[0] | (uint64_t)mixed[1] << 32, .stream = who << 8 | what};
}

static int happens(rng *r, double share) { return rng_uniform(r) < share; }

static double uniform(rng *r, double low, double high) { return low + (high - low) * rng_uniform(r); }

/* low^(1-u) high^u for a uniform u: the logarithm is uniform. The power is made of square roots, one for each bit. */
static double log_uniform(rng *r, double low, double high) {
    uint32_t bits = rng_u32(r);
    double root = high / low, power = low;
    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1) {
        root = sqrt(root);
        if (bits & bit) power *= root;
    }
    return power;
}

/* ---- Rectangles ---------------------------------------------------------------------------- */

/* Area and sides of a rectangle, as shares and as ratios. */
typedef struct range {
    double area_low, area_high, ratio_low, ratio_high;
} range;

static range range_of(const double *settings, augment_setting area, augment_setting ratio) {
    range a = {within(settings[area], 0, 1), within(settings[area + 1], 0, 1), within(settings[ratio], 1e-3, 1e3),
               within(settings[ratio + 1], 1e-3, 1e3)};
    return a;
}

/* Sides of an area drawn from the range; `*first` over `*second` is the ratio. */
static void draw_sides(rng *r, const range *a, double whole, double *first, double *second) {
    double area = whole * uniform(r, a->area_low, a->area_high);
    double ratio = log_uniform(r, a->ratio_low, a->ratio_high);
    *first = rint(sqrt(area * ratio));
    *second = rint(sqrt(area / ratio));
}

static augment_rectangle centre(const int64_t whole[2], const int64_t part[2]) {
    return (augment_rectangle){(whole[0] - part[0]) / 2, (whole[1] - part[1]) / 2, part[0], part[1]};
}

/* The largest rectangle in the middle whose ratio is in the range, for an image that none of the drawn ones fits. */
static augment_rectangle middle(const int64_t size[2], const range *a) {
    int64_t part[2] = {size[0], size[1]};
    double ratio = (double)size[1] / (double)size[0];
    if (ratio < a->ratio_low) part[0] = (int64_t)within(rint((double)size[1] / a->ratio_low), 1, (double)size[0]);
    if (ratio > a->ratio_high) part[1] = (int64_t)within(rint((double)size[0] * a->ratio_high), 1, (double)size[1]);
    return centre(size, part);
}

static augment_rectangle draw_source(rng *r, const int64_t size[2], const range *a) {
    double height = (double)size[0], width = (double)size[1], h, w;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        draw_sides(r, a, height * width, &w, &h);
        if (w < 1 || w > width || h < 1 || h > height) continue;
        int64_t top = rng_between(r, 0, size[0] - (int64_t)h), left = rng_between(r, 0, size[1] - (int64_t)w);
        return (augment_rectangle){top, left, (int64_t)h, (int64_t)w};
    }
    return middle(size, a);
}

static augment_rectangle draw_erased(rng *r, const int64_t size[2], const range *a) {
    double height = (double)size[0], width = (double)size[1], h, w;
    for (int attempt = 0; attempt < TRIES; attempt++) {
        draw_sides(r, a, height * width, &h, &w);
        if (h >= height || w >= width) continue;
        int64_t top = rng_between(r, 0, size[0] - (int64_t)h), left = rng_between(r, 0, size[1] - (int64_t)w);
        return (augment_rectangle){top, left, (int64_t)h, (int64_t)w};
    }
    return (augment_rectangle){0};
}

/* The middle of one axis; of two middles the even one. */
static int64_t middle_of(int64_t size, int64_t part) {
    int64_t twice = size - part;
    return twice / 2 + (twice % 2 && twice / 2 % 2);
}

/* What the streams share. */
static void draw_place(const braid_problem *p, const int64_t key[2], int64_t id, const double *s, augment_draws *out) {
    int train = p->phase == BRAID_PHASE_TRAIN;
    rng flip = numbers_of(key, id, 0, DRAW_FLIP), crop = numbers_of(key, id, 0, DRAW_CROP);
    range a = range_of(s, AUGMENT_SCALE_LOW, AUGMENT_RATIO_LOW);
    out->flip = train && happens(&flip, s[AUGMENT_FLIP_P]);
    out->resample = s[AUGMENT_RESAMPLE] > 0 || p->out_size[0] > p->size[0] || p->out_size[1] > p->size[1];
    out->source = (augment_rectangle){0, 0, p->size[0], p->size[1]};
    if (out->resample) {
        if (train && happens(&crop, s[AUGMENT_RECTANGLE_P])) out->source = draw_source(&crop, p->size, &a);
        return;
    }
    out->source.height = p->out_size[0];
    out->source.width = p->out_size[1];
    for (int axis = 0; axis < 2; axis++) {
        int64_t room = p->size[axis] - p->out_size[axis];
        int64_t at = train ? rng_between(&crop, 0, room) : middle_of(p->size[axis], p->out_size[axis]);
        *(axis ? &out->source.left : &out->source.top) = at;
    }
}

/* ---- Values -------------------------------------------------------------------------------- */

static double draw_factor(rng *r, double reach) {
    reach = within(reach, 0, 8);
    return uniform(r, fmax(0, 1 - reach), 1 + reach);
}

static void draw_adjustments(rng *r, const double *s, augment_draws *out) {
    out->adjust = happens(r, s[AUGMENT_ADJUST_P]);
    for (int j = 0; j < AUGMENT_STEPS; j++) out->order[j] = (augment_step)j;
    for (int j = AUGMENT_STEPS - 1; j > 0; j--) {
        int other = (int)rng_between(r, 0, j);
        augment_step step = out->order[j];
        out->order[j] = out->order[other];
        out->order[other] = step;
    }
    out->brightness = draw_factor(r, s[AUGMENT_BRIGHTNESS]);
    out->contrast = draw_factor(r, s[AUGMENT_CONTRAST]);
    out->saturation = draw_factor(r, s[AUGMENT_SATURATION]);
    double reach = within(s[AUGMENT_HUE], 0, 0.5);
    out->hue = uniform(r, -reach, reach);
    out->noise = within(s[AUGMENT_NOISE], 0, 8);
}

static void draw_blur(rng *r, const double *s, augment_draws *out) {
    int64_t widest = (int64_t)within(s[AUGMENT_BLUR_TAPS], 3, AUGMENT_MOST_TAPS);
    int blur = happens(r, s[AUGMENT_BLUR_P]);
    int taps = 3 + 2 * (int)rng_between(r, 0, (widest - 3) / 2);
    double sigma = uniform(r, within(s[AUGMENT_SIGMA_LOW], 1e-3, 1e3), within(s[AUGMENT_SIGMA_HIGH], 1e-3, 1e3));
    double sum = 0;
    out->blur_taps = blur ? taps : 0;
    for (int j = 0; j < out->blur_taps; j++) {
        double away = (j - taps / 2) / sigma;
        sum += out->blur_weights[j] = exp(-0.5 * away * away);
    }
    for (int j = 0; j < out->blur_taps; j++) out->blur_weights[j] /= sum;
}

void augment_draw(const braid_problem *p, int i, const int64_t key[2], int64_t id,
                  const double settings[AUGMENT_SETTINGS], augment_draws *out) {
    uint64_t who = 1 + (uint64_t)within(settings[AUGMENT_NUMBER], 0, 1e6);
    *out = (augment_draws){.colour = settings[AUGMENT_KIND] > 0 && p->in_channels[i] == 3};
    draw_place(p, key, id, settings, out);
    if (p->phase != BRAID_PHASE_TRAIN) return;
    rng adjust = numbers_of(key, id, who, DRAW_ADJUST), blur = numbers_of(key, id, who, DRAW_BLUR);
    rng grey = numbers_of(key, id, who, DRAW_GREY), erase = numbers_of(key, id, who, DRAW_ERASE);
    draw_adjustments(&adjust, settings, out);
    out->noise_numbers = numbers_of(key, id, who, DRAW_NOISE);
    if (out->colour) draw_blur(&blur, settings, out);
    out->grey = out->colour && happens(&grey, settings[AUGMENT_GREY_P]);
    range a = range_of(settings, AUGMENT_AREA_LOW, AUGMENT_SHAPE_LOW);
    if (happens(&erase, settings[AUGMENT_ERASE_P])) out->erased = draw_erased(&erase, p->out_size, &a);
}

double augment_noise(const augment_draws *d, int64_t element) {
    rng numbers = d->noise_numbers;
    numbers.index = 2 * (uint64_t)element;
    return rng_normal(&numbers);
}

/* ---- Places -------------------------------------------------------------------------------- */

int64_t augment_reflect(int64_t at, int64_t size) {
    int64_t turn = size > 1 ? 2 * (size - 1) : 1, inside = at % turn;
    if (inside < 0) inside += turn;
    return inside < size ? inside : turn - inside;
}

/* The width of a place of the output, in places of the input. */
static double tap_scale(int64_t from, int64_t to) { return (double)from / (double)to; }

void augment_taps(int64_t from, int64_t to, int64_t out, int64_t *first, int64_t *count) {
    double scale = tap_scale(from, to), reach = fmax(scale, 1), middle_at = scale * ((double)out + 0.5);
    double begin = fmax(middle_at - reach + 0.5, 0), end = fmin(middle_at + reach + 0.5, (double)from);
    *first = (int64_t)begin;
    *count = (int64_t)end - *first;
}

double augment_tap_weight(int64_t from, int64_t to, int64_t out, int64_t tap) {
    double scale = tap_scale(from, to), reach = fmax(scale, 1), middle_at = scale * ((double)out + 0.5);
    return fmax(0, 1 - fabs((double)tap + 0.5 - middle_at) / reach);
}

int64_t augment_most_taps(int64_t from, int64_t to) { return 2 * (from / to + 1) + 1; }
