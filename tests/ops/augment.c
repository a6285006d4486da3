/*
 * The case tests of augment: see tests/support/cases.h. The known answers switch on one transform at a time, with a
 * mean of 0 and a deviation of 1, so that y is the changed image in [0, 1]. What is drawn has tests of its own
 * (tests/ops/augment_draw.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/augment.h"

#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"samples permute", samples_permute},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Setting up ---------------------------------------------------------------------------- */

typedef struct given {
    augment_setting setting;
    double value;
} given;

/* A row in which nothing happens but what is given, and y in [0, 1]. */
static void only(known *k, int colour, const given *some, int count) {
    static const augment_setting off[] = {AUGMENT_FLIP_P,     AUGMENT_ADJUST_P, AUGMENT_BRIGHTNESS, AUGMENT_CONTRAST,
                                          AUGMENT_SATURATION, AUGMENT_HUE,      AUGMENT_NOISE,      AUGMENT_BLUR_P,
                                          AUGMENT_GREY_P,     AUGMENT_ERASE_P,  AUGMENT_RECTANGLE_P};
    double row[AUGMENT_SETTINGS];
    augment_usual(row, colour, 0);
    for (int j = 0; j < COUNT(off); j++) row[off[j]] = 0;
    for (int j = 0; j < count; j++) row[some[j].setting] = some[j].value;
    known_set(k, AUGMENT_SETTINGS_TABLE, row, AUGMENT_SETTINGS);
    rig_set_all(&k->rig, AUGMENT_MEAN, 0, 0);
    rig_set_all(&k->rig, AUGMENT_STD, 0, 1);
}

/* What is drawn for the first sample. */
static augment_draws drawn(const known *k) {
    double row[AUGMENT_SETTINGS];
    augment_draws d;
    for (int j = 0; j < AUGMENT_SETTINGS; j++) row[j] = rig_get(&k->rig, AUGMENT_SETTINGS_TABLE, 0, j);
    augment_draw(&k->rig.problem, 0, rig_plane(&k->rig, AUGMENT_KEY, 0),
                 *(const int64_t *)rig_plane(&k->rig, AUGMENT_IDS, 0), row, &d);
    return d;
}

static double clamp(double value) { return fmin(fmax(value, 0), 1); }

#define ONLY(k, colour, ...) only(k, colour, (const given[]){__VA_ARGS__}, COUNT(((const given[]){__VA_ARGS__})))

/* ---- Places -------------------------------------------------------------------------------- */

static void normalised(known *k) {
    static const double x[] = {0, 51, 255}, mean[] = {0.5}, std[] = {0.25}, y[] = {-2, -1.2, 2};
    ONLY(k, 0, {AUGMENT_NUMBER, 0});
    known_set(k, AUGMENT_X, x, COUNT(x));
    known_set(k, AUGMENT_MEAN, mean, 1);
    known_set(k, AUGMENT_STD, std, 1);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

static void flipped(known *k) {
    static const double x[] = {0, 51, 255, 102, 153, 204}, y[] = {1, 0.2, 0, 0.8, 0.6, 0.4};
    ONLY(k, 0, {AUGMENT_FLIP_P, 1});
    known_set(k, AUGMENT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* A byte for every place, 10 a row: the first output tells where the window is, the others must follow. */
static void window(known *k, int flip, int64_t top, int64_t left) {
    const braid_problem *p = &k->rig.problem;
    for (int64_t row = 0; row < p->size[0]; row++) {
        for (int64_t column = 0; column < p->size[1]; column++)
            rig_set(&k->rig, AUGMENT_X, 0, row * p->size[1] + column, (double)(10 * row + column));
    }
    if (!known_run(k)) return;
    double corner = 255 * rig_get(&k->rig, AUGMENT_Y, 0, 0);
    if (top >= 0) suite_expect(k->s, fabs(corner - (double)(10 * top + left)) < 1e-3, "%s: a wrong centre", k->text);
    for (int64_t j = 0; j < p->out_size[0] * p->out_size[1]; j++) {
        int64_t row = j / p->out_size[1], column = j % p->out_size[1];
        double expected = corner + (double)(10 * row + (flip ? -column : column));
        suite_expect(k->s, fabs(255 * rig_get(&k->rig, AUGMENT_Y, 0, j) - expected) < 1e-3,
                     "%s with %s: not a window of the image at %d", k->text, k->rig.kernel->name, (int)j);
    }
}

static void cropped(known *k) {
    ONLY(k, 0, {AUGMENT_NUMBER, 0});
    window(k, 0, -1, -1);
}

static void cropped_and_flipped(known *k) {
    ONLY(k, 0, {AUGMENT_FLIP_P, 1});
    window(k, 1, -1, -1);
}

/* Nothing is drawn, however likely: rows 1 and 2 of 4, and of the two middles of 5 columns the even one. */
static void centre(known *k) {
    ONLY(k, 0, {AUGMENT_FLIP_P, 1}, {AUGMENT_ADJUST_P, 1}, {AUGMENT_NOISE, 1}, {AUGMENT_ERASE_P, 1});
    window(k, 0, 1, 2);
}

/* Two places become four: a quarter and three quarters between them, the outer ones beyond both. */
static void enlarged(known *k) {
    static const double x[] = {0, 255}, y[] = {0, 0.25, 0.75, 1};
    ONLY(k, 0, {AUGMENT_RESAMPLE, 1});
    known_set(k, AUGMENT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* Four become two: a triangle four places wide, cut off at the edge: weights 1, 3, 3 of 7. */
static void reduced(known *k) {
    static const double x[] = {0, 0, 255, 255}, y[] = {1 / 7.0, 6 / 7.0};
    ONLY(k, 0, {AUGMENT_RESAMPLE, 1});
    known_set(k, AUGMENT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* A ramp stays a ramp when a rectangle of it is resampled: its slope tells the width, its start the left edge. */
static void rectangle(known *k) {
    ONLY(k, 0, {AUGMENT_RESAMPLE, 1}, {AUGMENT_RECTANGLE_P, 1}, {AUGMENT_SCALE_LOW, 0.5}, {AUGMENT_SCALE_HIGH, 0.6});
    for (int64_t j = 0; j < 400; j++) rig_set(&k->rig, AUGMENT_X, 0, j, (double)(10 * (j % 20)));
    augment_draws d = drawn(k);
    suite_expect(k->s, d.source.width < 20 && d.source.width > 10, "%s: a rectangle of 0.5 to 0.6", k->text);
    if (!known_run(k)) return;
    for (int64_t j = 80; j < 120; j++) { /* the middle of an output of 10 x 20 is far from the edges */
        double at = ((double)(j % 20) + 0.5) * (double)d.source.width / 20 - 0.5;
        if (j % 20 < 2 || j % 20 > 17) continue;
        suite_expect(k->s, fabs(255 * rig_get(&k->rig, AUGMENT_Y, 0, j) - 10 * ((double)d.source.left + at)) < 1e-2,
                     "%s with %s: the ramp is bent at %d", k->text, k->rig.kernel->name, (int)j);
    }
}

/* ---- Colours ------------------------------------------------------------------------------- */

static void brighter(known *k) {
    static const double x[] = {51, 102, 255, 0, 204, 153};
    double y[COUNT(x)];
    ONLY(k, 1, {AUGMENT_ADJUST_P, 1}, {AUGMENT_BRIGHTNESS, 0.5});
    known_set(k, AUGMENT_X, x, COUNT(x));
    double factor = drawn(k).brightness;
    for (int j = 0; j < COUNT(x); j++) y[j] = clamp(factor * x[j] / 255);
    suite_expect(k->s, fabs(factor - 1) > 0.01, "%s: a factor of 1 proves nothing", k->text);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* Pixels (1, 0, 0) and (0.4, 0.4, 0.4): the mean grey is (0.2989 + 0.4 * 0.9999) / 2. */
static void steeper(known *k) {
    static const double x[] = {255, 0, 0, 102, 102, 102};
    double y[COUNT(x)], mean = (0.2989 + 0.39996) / 2;
    ONLY(k, 1, {AUGMENT_ADJUST_P, 1}, {AUGMENT_CONTRAST, 0.5});
    known_set(k, AUGMENT_X, x, COUNT(x));
    double factor = drawn(k).contrast;
    for (int j = 0; j < COUNT(x); j++) y[j] = clamp(factor * x[j] / 255 + (1 - factor) * mean);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

static void saturated(known *k) {
    static const double x[] = {204, 51, 102};
    double y[COUNT(x)], grey = 0.2989 * 0.8 + 0.587 * 0.2 + 0.114 * 0.4;
    ONLY(k, 1, {AUGMENT_ADJUST_P, 1}, {AUGMENT_SATURATION, 0.5});
    known_set(k, AUGMENT_X, x, COUNT(x));
    double factor = drawn(k).saturation;
    for (int j = 0; j < COUNT(x); j++) y[j] = clamp(factor * x[j] / 255 + (1 - factor) * grey);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* Red goes to yellow or to magenta, green to cyan or to yellow; grey and black have no hue. */
static void turned(known *k) {
    static const double x[] = {255, 0, 0, 0, 255, 0, 77, 77, 77, 0, 0, 0};
    ONLY(k, 1, {AUGMENT_ADJUST_P, 1}, {AUGMENT_HUE, 0.16});
    known_set(k, AUGMENT_X, x, COUNT(x));
    double sixths = 6 * drawn(k).hue, up = fmax(sixths, 0), down = fmax(-sixths, 0), grey = 77 / 255.0;
    const double y[] = {1, up, down, down, 1, up, grey, grey, grey, 0, 0, 0};
    suite_expect(k->s, fabs(sixths) > 0.01, "%s: no turn proves nothing", k->text);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 2e-6);
}

static void grey(known *k) {
    static const double x[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    static const double y[] = {0.2989, 0.2989, 0.2989, 0.587,  0.587,  0.587,
                               0.114,  0.114,  0.114,  0.9999, 0.9999, 0.9999};
    ONLY(k, 1, {AUGMENT_GREY_P, 1});
    known_set(k, AUGMENT_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* Three taps of deviation 1: w = e^-0.5 / (1 + 2 e^-0.5) beside m = 1 - 2w. A dot in the second column of the first
 * row reaches the first column twice, by its reflection, and the row below once. */
static void blurred(known *k) {
    const double w = 0.27406861906, m = 0.45186276188;
    const double y[9] = {2 * w * m, m * m, w * m, 2 * w * w, m * w, w * w, 0, 0, 0};
    ONLY(k, 1, {AUGMENT_BLUR_P, 1}, {AUGMENT_BLUR_TAPS, 3}, {AUGMENT_SIGMA_LOW, 1}, {AUGMENT_SIGMA_HIGH, 1});
    rig_set_all(&k->rig, AUGMENT_X, 0, 0);
    rig_set(&k->rig, AUGMENT_X, 0, 1 * 3 + 1, 255); /* green, row 0, column 1 of 4 */
    if (!known_run(k)) return;
    for (int j = 0; j < 9; j++) {
        int64_t place = j / 3 * 4 + j % 3;
        double got = rig_get(&k->rig, AUGMENT_Y, 0, place * 3 + 1), beside = rig_get(&k->rig, AUGMENT_Y, 0, place * 3);
        suite_expect(k->s, fabs(got - y[j]) < 1e-6 && beside == 0, "%s with %s: place %d: expected %.9g, got %.9g",
                     k->text, k->rig.kernel->name, j, y[j], got);
    }
}

/* ---- Plain streams ------------------------------------------------------------------------- */

static void plain(known *k) {
    static const double x[] = {0, 51, 102, 153, 255};
    double y[COUNT(x)];
    ONLY(k, 0, {AUGMENT_ADJUST_P, 1}, {AUGMENT_BRIGHTNESS, 0.25}, {AUGMENT_CONTRAST, 0.25});
    known_set(k, AUGMENT_X, x, COUNT(x));
    augment_draws d = drawn(k);
    for (int j = 0; j < COUNT(x); j++) y[j] = clamp(((x[j] / 255 - 0.5) * d.contrast + 0.5) * d.brightness);
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* Every channel of every pixel has noise of its own; black and white are clamped. */
static void noisy(known *k) {
    double y[2 * 50];
    ONLY(k, 0, {AUGMENT_ADJUST_P, 1}, {AUGMENT_NOISE, 0.2});
    rig_set_all(&k->rig, AUGMENT_X, 0, 102);
    augment_draws d = drawn(k);
    for (int j = 0; j < COUNT(y); j++) y[j] = clamp(0.4 + 0.2 * augment_noise(&d, j));
    if (known_run(k)) known_expect(k, AUGMENT_Y, y, COUNT(y), 1e-6);
}

/* A quarter of 4 x 4, as high as wide: 2 x 2 exact zeros where white is 1; the mean and deviation do not touch them. */
static void erased(known *k) {
    int zeros = 0;
    ONLY(k, 0, {AUGMENT_ERASE_P, 1}, {AUGMENT_AREA_LOW, 0.25}, {AUGMENT_AREA_HIGH, 0.25}, {AUGMENT_SHAPE_LOW, 1},
         {AUGMENT_SHAPE_HIGH, 1});
    rig_set_all(&k->rig, AUGMENT_X, 0, 255);
    rig_set_all(&k->rig, AUGMENT_MEAN, 0, 0.5);
    augment_draws d = drawn(k);
    if (!known_run(k)) return;
    for (int64_t j = 0; j < 16; j++) {
        int64_t row = j / 4 - d.erased.top, column = j % 4 - d.erased.left;
        int inside = row >= 0 && row < 2 && column >= 0 && column < 2;
        double got = rig_get(&k->rig, AUGMENT_Y, 0, j);
        zeros += got == 0;
        suite_expect(k->s, (inside ? got == 0 : fabs(got - 0.5) < 1e-6), "%s with %s: place %d: got %.9g", k->text,
                     k->rig.kernel->name, (int)j, got);
    }
    suite_expect(k->s, zeros == 4, "%s with %s: expected 4 zeros, got %d", k->text, k->rig.kernel->name, zeros);
}

static void scenarios(suite *s) {
    known_each(s, "augment:f32:b1:hw1x3:c1:out1x3", normalised);
    known_each(s, "augment:f32:b1:hw1x3:c1:out1x3:phase=eval", normalised);
    known_each(s, "augment:f32:b1:hw2x3:c1:out2x3:cp4", flipped);
    known_each(s, "augment:f64:b1:hw2x3:c1:out2x3", flipped);
    known_each(s, "augment:f32:b1:hw9x10:c1:out4x3", cropped);
    known_each(s, "augment:f32:b1:hw9x10:c1:out7x8:cp2", cropped_and_flipped);
    known_each(s, "augment:f32:b1:hw4x5:c1:out2x2:phase=eval", centre);
    known_each(s, "augment:f32:b1:hw1x2:c1:out1x4", enlarged);
    known_each(s, "augment:f32:b1:hw2x1:c1:out4x1:phase=eval", enlarged);
    known_each(s, "augment:f32:b1:hw1x4:c1:out1x2", reduced);
    known_each(s, "augment:f32:b1:hw4x1:c1:out2x1", reduced);
    known_each(s, "augment:f32:b1:hw20x20:c1:out10x20", rectangle);
    known_each(s, "augment:f32:b1:hw1x2:c3:out1x2", brighter);
    known_each(s, "augment:f32:b1:hw2x1:c3:out2x1:cp4", steeper);
    known_each(s, "augment:f32:b1:hw1x1:c3:out1x1", saturated);
    known_each(s, "augment:f32:b1:hw2x2:c3:out2x2", turned);
    known_each(s, "augment:f32:b1:hw4x1:c3:out4x1:cp8", grey);
    known_each(s, "augment:f32:b1:hw3x4:c3:out3x4", blurred);
    known_each(s, "augment:f32:b1:hw5x1:c1:out5x1", plain);
    known_each(s, "augment:f32:b1:hw5x10:c2:out5x10", noisy);
    known_each(s, "augment:f32:b1:hw4x4:c1:out4x4", erased);
    known_refused(s, "augment:n9:hw2x2:c1", "from 1 to 8");
    known_refused(s, "augment:hw2x2:c3:k3", "has no field k");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_AUGMENT, .properties = properties, .scenarios = scenarios});
}
