/*
 * Work on images, once per instruction set: bytes to normalised pixels, and what augment does to planes of one
 * channel, floats without gaps. A plane is followed by room for one vector: loops run on into it, to whole vectors.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_IMAGES_H
#define BRAID_KERNELS_CPU_ISA_IMAGES_H

#include "braid.h"
#include "kernels/cpu/isa/flat.h"

#define IMAGES_BYTES 16 /* that one vector of outputs picks from */

#define IMAGES_LANES 16 /* of the widest vector */

/* One vector of outputs of a pattern. scale and shift are zero in the lanes behind the channels. */
typedef struct images_vector {
    int64_t first;                /* byte from which it picks, counted from the first pixel of the period */
    uint8_t places[IMAGES_BYTES]; /* what it picks there */
    float scale[IMAGES_LANES], shift[IMAGES_LANES];
} images_vector;

/* How dense pixels of bytes become pixels that lie a pitch apart, vector by vector; then it repeats. */
typedef struct images_pattern {
    int64_t period, period_bytes; /* vectors, and the bytes from one period to the next */
    const images_vector *vectors; /* [period] */
} images_pattern;

/* `values` outputs, lanes behind the channels included, from the bytes at x, of which `room` may be read, and `back`
 * bytes in front of it. */
typedef struct images_span {
    const uint8_t *x;
    int64_t room, values, back;
} images_span;

/* Planes of R, G and B. */
typedef struct images_colours {
    float *r, *g, *b;
    int64_t count;
} images_colours;

typedef struct images {
    const flat_loops *flat; /* of the same instruction set: its lanes and random bits */
    int64_t width;          /* lanes of a vector */
    /* y = x * scale + shift in f32, f16 or bf16. */
    void (*normalize)(void *y, braid_dtype dtype, const images_pattern *t, const images_span *s);
    /* x = x * scale + shift, from range[0] to range[1]. */
    void (*line)(float *x, float scale, float shift, const float range[2], int64_t count);
    /* x += from * share. */
    void (*add)(float *x, const float *from, float share, int64_t count);
    double (*grey_sum)(const images_colours *a);
    void (*make_grey)(const images_colours *a);
    /* Blends with the grey of every pixel; turns the hue. Both within [0, 1]. */
    void (*saturate)(const images_colours *a, float share);
    void (*turn_hue)(const images_colours *a, float sixths);
    /* to[j] = sum of weights[t] * from[j + t * step]. */
    void (*weigh)(float *to, const float *from, int64_t step, const float *weights, int64_t taps, int64_t count);
    /* Normal numbers (core/rng.h: rng_normal), each from two words of a sequence. */
    void (*normals)(float *to, const uint32_t *words, int64_t count);
} images;

extern const images images_avx512, images_avx2, images_portable;

#endif
