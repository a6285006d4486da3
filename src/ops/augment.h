/*
 * The settings and the random draws of augment: what happens to one sample of one stream, as plain numbers. The
 * reference and every kernel read them here, so that they can differ in nothing but the arithmetic on pixels.
 *
 * A draw is a function of (seed, step, sample id, stream number, transform) alone: not of the place of a sample in its
 * batch, nor of what other transforms are switched on. Flip and crop do not see the stream number.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_AUGMENT_H
#define BRAID_OPS_AUGMENT_H

#include "ops/op.h"

/* The columns of `settings`, a row for each stream; in brackets what augment_usual gives. A value out of range counts
 * as the nearest one in range, NaN as the lowest. Those marked "all" steer what the streams share: give every row the
 * same values. */
typedef enum augment_setting {
    AUGMENT_KIND,        /* 1: colour, where the stream has 3 channels, R G B; 0: plain */
    AUGMENT_NUMBER,      /* of the stream in the draws: its index */
    AUGMENT_FLIP_P,      /* all [.5] share of samples that are mirrored left to right */
    AUGMENT_RESAMPLE,    /* all [0] 0: crop; 1: resample a rectangle of the image to the output size */
    AUGMENT_RECTANGLE_P, /* all [.5] share of samples that resample a drawn rectangle; the others take all of it */
    AUGMENT_SCALE_LOW,   /* all [.9] area of that rectangle, as a share of the image */
    AUGMENT_SCALE_HIGH,  /* all [1] */
    AUGMENT_RATIO_LOW,   /* all [.95] its width over its height */
    AUGMENT_RATIO_HIGH,  /* all [1.05] */
    AUGMENT_ADJUST_P,    /* [.43; plain .5] share of samples whose values are adjusted */
    AUGMENT_BRIGHTNESS,  /* [.37; plain .25] factors are drawn from 1 - this, at least 0, to 1 + this */
    AUGMENT_CONTRAST,    /* [.37; plain .25] */
    AUGMENT_SATURATION,  /* [.37] colour */
    AUGMENT_HUE,         /* [.11] colour: of a turn, either way; at most .5 */
    AUGMENT_NOISE,       /* [.06] plain: deviation of the normal noise */
    AUGMENT_BLUR_P,      /* [.25] colour: share of samples that are blurred */
    AUGMENT_BLUR_TAPS,   /* [7] the widest filter: 3, 5, ... up to this are equally likely */
    AUGMENT_SIGMA_LOW,   /* [.1] its deviation, in pixels */
    AUGMENT_SIGMA_HIGH,  /* [1.7] */
    AUGMENT_GREY_P,      /* [.17] colour: share of samples that lose their colour */
    AUGMENT_ERASE_P,     /* [.17; plain .10] share of samples of which a rectangle is erased */
    AUGMENT_AREA_LOW,    /* [.02] its area, as a share of the output */
    AUGMENT_AREA_HIGH,   /* [.10] */
    AUGMENT_SHAPE_LOW,   /* [.5] its height over its width */
    AUGMENT_SHAPE_HIGH,  /* [2] */
    AUGMENT_SETTINGS
} augment_setting;

/* The usual row of a stream: RGB with depth and orthogonal images beside it. */
void augment_usual(double row[AUGMENT_SETTINGS], int colour, int number);

#define AUGMENT_MOST_TAPS 15

typedef enum augment_step {
    AUGMENT_STEP_BRIGHTNESS,
    AUGMENT_STEP_CONTRAST,
    AUGMENT_STEP_SATURATION,
    AUGMENT_STEP_HUE,
    AUGMENT_STEPS
} augment_step;

typedef struct augment_rectangle {
    int64_t top, left, height, width; /* a height or width of 0: none */
} augment_rectangle;

/* What happens to one sample of one stream, in this order. */
typedef struct augment_draws {
    int flip;                 /* the image is mirrored first; then */
    augment_rectangle source; /* this part of it is taken, */
    int resample;             /* 1: and resampled to the output size, which it has otherwise */
    int colour;               /* which adjustments are meant */
    int adjust;
    augment_step order[AUGMENT_STEPS];       /* of the adjustments of a colour stream */
    double brightness, contrast, saturation; /* factors */
    double hue;                              /* of a turn */
    double noise;                            /* deviation; of plain streams */
    rng noise_numbers;
    int blur_taps;                          /* 0: no blur */
    double blur_weights[AUGMENT_MOST_TAPS]; /* they add up to 1 */
    int grey;
    augment_rectangle erased; /* of the output, after it was normalised */
} augment_draws;

/* Sample `id` of stream i of a checked problem. key is {seed, step}. With phase=eval: the centre, or all of the image
 * where it is resampled, and nothing else. Where the output is larger than the image, it is always resampled. */
void augment_draw(const braid_problem *p, int i, const int64_t key[2], int64_t id,
                  const double settings[AUGMENT_SETTINGS], augment_draws *out);

/* The noise of one element ([row][column][channel]) of the output, in deviations. */
double augment_noise(const augment_draws *d, int64_t element);

/* The place inside 0 ... size - 1 that a place outside mirrors, without repeating the edge. */
int64_t augment_reflect(int64_t at, int64_t size);

/* How `from` places become `to`: output place `out` is the sum of `*count` places from `*first` on, each with its
 * weight. A triangle as wide as two places of the coarser side: bilinear, and free of aliases where it shrinks. */
void augment_taps(int64_t from, int64_t to, int64_t out, int64_t *first, int64_t *count);
double augment_tap_weight(int64_t from, int64_t to, int64_t out, int64_t tap);

/* The most taps that one output place has. */
int64_t augment_most_taps(int64_t from, int64_t to);

#endif
