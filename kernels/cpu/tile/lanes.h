/*
 * Work along the channels of consecutive pixels, one lane per channel: the loops of batch normalisation,
 * once per instruction set. Pixels lie `pitch` floats apart; lanes behind the channels are neither read
 * nor written. Sums are made in double, so that a mean far from zero costs no digits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_LANES_H
#define BRAID_KERNELS_CPU_TILE_LANES_H

#include <stdint.h>

/* Consecutive pixels of one plane. */
typedef struct lanes_pixels {
    int64_t channels, pitch, count;
    const float *x, *dy; /* [count][pitch]; dy may be NULL where a function says so */
} lanes_pixels;

/* dx = slope * dy + bend * (x - center) + offset, for every channel. */
typedef struct lanes_gradient {
    const float *slope, *bend, *offset, *center; /* [channels] */
} lanes_gradient;

typedef struct lanes {
    const char *name; /* "avx512" */
    double flops;     /* a second, of one core: what a cost model may expect */
    /* first[c] += sum of e, second[c] += sum of e * (x - center[c]); e is dy, or x - center[c] where dy is NULL. */
    void (*sums)(double *first, double *second, const float *center, const lanes_pixels *p);
    /* y = x * scale + shift. */
    void (*scale_shift)(float *y, const float *scale, const float *shift, const lanes_pixels *p);
    void (*gradient)(float *dx, const lanes_gradient *g, const lanes_pixels *p);
} lanes;

extern const lanes lanes_avx512, lanes_avx2, lanes_portable;

#endif
