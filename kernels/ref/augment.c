/*
 * augment, one element, from the inside out: the source pixel, its adjustments, the blur over such pixels, grey,
 * normalised, erased. Values are in [0, 1] until they are normalised. Beside every value goes a magnitude: what the
 * errors of its making, as multiples of a unit roundoff, can add up to. A step hands on the magnitudes of its inputs
 * times its steepest slope, and adds the size of what it computes; clamps and minima have a slope of 1, and a seam
 * between two branches is continuous, so that it does not matter on which side a rounded value falls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"
#include "ops/augment.h"

typedef struct number {
    real value, magnitude;
} number;

typedef struct pixel {
    number c[3]; /* R G B */
} pixel;

/* One sample of one stream, and what is drawn for it. */
typedef struct scene {
    const braid_problem *p;
    const uint8_t *x;
    int64_t channels;
    augment_draws d;
    number mean; /* grey of the image that the contrast is set against */
} scene;

static real clamp(real value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

/* ---- The source ---------------------------------------------------------------------------- */

/* A place of the mirrored image, counted from the corner of the rectangle that is taken. */
static real byte_at(const scene *s, int64_t row, int64_t column, int64_t c) {
    int64_t y = s->d.source.top + row, x = s->d.source.left + column;
    if (s->d.flip) x = s->p->size[1] - 1 - x;
    return (real)s->x[(y * s->p->size[1] + x) * s->channels + c] / 255;
}

static real resampled_row(const scene *s, int64_t row, int64_t column, int64_t c) {
    int64_t from = s->d.source.width, to = s->p->out_size[1], first, count;
    real sum = 0, weights = 0;
    augment_taps(from, to, column, &first, &count);
    for (int64_t tap = first; tap < first + count; tap++) {
        real weight = (real)augment_tap_weight(from, to, column, tap);
        sum += weight * byte_at(s, row, tap, c);
        weights += weight;
    }
    return sum / weights;
}

static number source(const scene *s, int64_t row, int64_t column, int64_t c) {
    int64_t from = s->d.source.height, to = s->p->out_size[0], first, count;
    real sum = 0, weights = 0;
    if (!s->d.resample) {
        real value = byte_at(s, row, column, c);
        return (number){value, value};
    }
    augment_taps(from, to, row, &first, &count);
    for (int64_t tap = first; tap < first + count; tap++) {
        real weight = (real)augment_tap_weight(from, to, row, tap);
        sum += weight * resampled_row(s, tap, column, c);
        weights += weight;
    }
    return (number){sum / weights, 2 * sum / weights};
}

/* ---- Adjustments --------------------------------------------------------------------------- */

static number grey_of(const pixel *a) {
    static const double shares[3] = {0.2989, 0.587, 0.114};
    number grey = {0, 0};
    for (int c = 0; c < 3; c++) {
        grey.value += (real)shares[c] * a->c[c].value;
        grey.magnitude += (real)shares[c] * (a->c[c].magnitude + a->c[c].value);
    }
    return grey;
}

/* a * share + b * (1 - share), clamped. */
static number blend(number a, number b, double share) {
    real first = (real)share * a.value, second = (real)(1 - share) * b.value;
    real magnitude = (real)share * a.magnitude + (real)fabs(1 - share) * b.magnitude;
    return (number){clamp(first + second), magnitude + (real)fabs(first) + (real)fabs(second)};
}

/* The three channels of a hue in sixths of a turn, a largest and a smallest value. */
static void from_hue(real sixths, real high, real low, real out[3]) {
    int sector = (int)floor((double)sixths);
    real part = sixths - (real)sector, falling = high - (high - low) * part, rising = low + (high - low) * part;
    const real turns[6][3] = {{high, rising, low},  {falling, high, low}, {low, high, rising},
                              {low, falling, high}, {rising, low, high},  {high, low, falling}};
    for (int c = 0; c < 3; c++) out[c] = turns[sector % 6][c];
}

/* Hue, saturation, value and back, with the hue turned. The map is piecewise linear in R G B with slopes of at most 4
 * in sum: 1 of the largest, 1 of the middle and 2 of the smallest value. */
static pixel turn_hue(const pixel *a, double turn) {
    real r = a->c[0].value, g = a->c[1].value, b = a->c[2].value, sixths, out[3];
    real high = (real)fmax(r, fmax(g, b)), low = (real)fmin(r, fmin(g, b)), span = high - low;
    real steepest = (real)fmax(a->c[0].magnitude, fmax(a->c[1].magnitude, a->c[2].magnitude));
    if (span == 0)
        sixths = 0;
    else if (high == r)
        sixths = (g - b) / span;
    else if (high == g)
        sixths = 2 + (b - r) / span;
    else
        sixths = 4 + (r - g) / span;
    sixths += 6 * (real)turn;
    sixths -= 6 * (real)floor((double)sixths / 6);
    from_hue(sixths, high, low, out);
    pixel turned;
    for (int c = 0; c < 3; c++) turned.c[c] = (number){out[c], 4 * steepest + high + 6 * span};
    return turned;
}

/* The first `steps` adjustments of a colour pixel. */
static pixel adjusted(const scene *s, int64_t row, int64_t column, int steps) {
    pixel a;
    for (int c = 0; c < 3; c++) a.c[c] = source(s, row, column, c);
    for (int j = 0; s->d.adjust && j < steps; j++) {
        number grey = grey_of(&a);
        if (s->d.order[j] == AUGMENT_STEP_HUE) {
            a = turn_hue(&a, s->d.hue);
            continue;
        }
        for (int c = 0; c < 3; c++) {
            switch (s->d.order[j]) {
                case AUGMENT_STEP_BRIGHTNESS: a.c[c] = blend(a.c[c], (number){0, 0}, s->d.brightness); break;
                case AUGMENT_STEP_CONTRAST: a.c[c] = blend(a.c[c], s->mean, s->d.contrast); break;
                default: a.c[c] = blend(a.c[c], grey, s->d.saturation); break;
            }
        }
    }
    return a;
}

/* The mean grey of the image as it is before its contrast is adjusted. */
static number mean_grey(const scene *s) {
    int before = 0;
    double sum = 0, magnitude = 0, count = (double)s->p->out_size[0] * (double)s->p->out_size[1];
    if (!s->d.adjust || !s->d.colour) return (number){0, 0};
    while (s->d.order[before] != AUGMENT_STEP_CONTRAST) before++;
    for (int64_t row = 0; row < s->p->out_size[0]; row++) {
        for (int64_t column = 0; column < s->p->out_size[1]; column++) {
            pixel a = adjusted(s, row, column, before);
            number grey = grey_of(&a);
            sum += (double)grey.value;
            magnitude += (double)grey.magnitude;
        }
    }
    return (number){(real)(sum / count), (real)(magnitude / count)};
}

/* ---- Blur, grey, noise --------------------------------------------------------------------- */

static pixel blurred(const scene *s, int64_t row, int64_t column) {
    int reach = s->d.blur_taps / 2;
    pixel sum = {0};
    if (s->d.blur_taps == 0) return adjusted(s, row, column, AUGMENT_STEPS);
    for (int v = 0; v < s->d.blur_taps; v++) {
        pixel line = {0};
        for (int h = 0; h < s->d.blur_taps; h++) {
            pixel a = adjusted(s, augment_reflect(row + v - reach, s->p->out_size[0]),
                               augment_reflect(column + h - reach, s->p->out_size[1]), AUGMENT_STEPS);
            for (int c = 0; c < 3; c++) {
                line.c[c].value += (real)s->d.blur_weights[h] * a.c[c].value;
                line.c[c].magnitude += (real)s->d.blur_weights[h] * (a.c[c].magnitude + a.c[c].value);
            }
        }
        for (int c = 0; c < 3; c++) {
            sum.c[c].value += (real)s->d.blur_weights[v] * line.c[c].value;
            sum.c[c].magnitude += (real)s->d.blur_weights[v] * (line.c[c].magnitude + line.c[c].value);
        }
    }
    return sum;
}

static number colour_value(const scene *s, int64_t row, int64_t column, int64_t c) {
    pixel a = blurred(s, row, column);
    return s->d.grey ? grey_of(&a) : a.c[c];
}

/* ((x - 1/2) contrast + 1/2) brightness + noise, clamped. A normal number is below 7 deviations. */
static number plain_value(const scene *s, int64_t row, int64_t column, int64_t c) {
    number a = source(s, row, column, c);
    if (!s->d.adjust) return a;
    int64_t element = (row * s->p->out_size[1] + column) * s->channels + c;
    real contrast = (real)s->d.contrast, brightness = (real)s->d.brightness;
    real steeper = (a.value - (real)0.5) * contrast + (real)0.5;
    real noise = (real)s->d.noise * (real)augment_noise(&s->d, element);
    real size = contrast * (a.magnitude + a.value + 1) + 1;
    return (number){clamp(steeper * brightness + noise), brightness * size + 7 * (real)s->d.noise};
}

/* ---- The element --------------------------------------------------------------------------- */

static int is_inside(const augment_rectangle *a, int64_t row, int64_t column) {
    return row >= a->top && row < a->top + a->height && column >= a->left && column < a->left + a->width;
}

ref_value REF(augment)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *mean = b->plane[AUGMENT_MEAN][i], *std = b->plane[AUGMENT_STD][i];
    const real *table = b->plane[AUGMENT_SETTINGS_TABLE][i];
    const int64_t *key = b->plane[AUGMENT_KEY][0], *ids = b->plane[AUGMENT_IDS][0];
    int64_t channels = p->in_channels[i], c = index % channels, place = index / channels;
    int64_t column = place % p->out_size[1], row = place / p->out_size[1] % p->out_size[0];
    int64_t sample = place / p->out_size[1] / p->out_size[0];
    double settings[AUGMENT_SETTINGS];
    scene s = {.p = p, .channels = channels};
    s.x = (const uint8_t *)b->plane[AUGMENT_X][i] + sample * p->size[0] * p->size[1] * channels;
    for (int j = 0; j < AUGMENT_SETTINGS; j++) settings[j] = (double)table[j];
    augment_draw(p, i, key, ids[sample], settings, &s.d);
    if (is_inside(&s.d.erased, row, column)) return (ref_value){0, 0};
    s.mean = mean_grey(&s);
    number a = s.d.colour ? colour_value(&s, row, column, c) : plain_value(&s, row, column, c);
    return (ref_value){(a.value - mean[c]) / std[c], (a.magnitude + fabs(a.value) + fabs(mean[c])) / std[c]};
}
