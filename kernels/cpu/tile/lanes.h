/*
 * Work along the channels of consecutive pixels, one lane per channel: the loops of batch normalisation,
 * activations and pooling, once per instruction set. Pixels lie `pitch` floats apart; lanes behind the
 * channels are neither read nor written. Sums of normalisation are made in double, so that a mean far from
 * zero costs no digits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_LANES_H
#define BRAID_KERNELS_CPU_TILE_LANES_H

#include <stdint.h>

#include "kernels/cpu/tile/halves.h"

/* Consecutive pixels of one plane. */
typedef struct lanes_pixels {
    int64_t channels, pitch, count;
    const float *x, *dy; /* [count][pitch]; dy may be NULL where a function says so */
} lanes_pixels;

/* dx = slope * dy + bend * (x - center) + offset, for every channel. */
typedef struct lanes_gradient {
    const float *slope, *bend, *offset, *center; /* [channels] */
} lanes_gradient;

/* The pixels of a pooling window that lie inside the input: rows by columns, so many floats apart. */
typedef struct lanes_window {
    int64_t channels, rows, columns; /* at least one of each */
    int64_t row_step, column_step;
    const float *x;              /* its first pixel */
    int64_t first_row, last_row; /* max_gradient writes to the rows [first_row, last_row) */
} lanes_window;

typedef struct lanes {
    const char *name; /* "avx512" */
    double flops;     /* a second, of one core: what a cost model may expect */
    halves bf16, f16;
    /* first[c] += sum of e, second[c] += sum of e * (x - center[c]); e is dy, or x - center[c] where dy is NULL. */
    void (*sums)(double *first, double *second, const float *center, const lanes_pixels *p);
    /* y = x * scale + shift. */
    void (*scale_shift)(float *y, const float *scale, const float *shift, const lanes_pixels *p);
    void (*gradient)(float *dx, const lanes_gradient *g, const lanes_pixels *p);
    /* y = f(x) and dx = dy f'(x) for a braid_activation; y = x + dy. */
    void (*activate)(float *y, int activation, const lanes_pixels *p);
    void (*activate_gradient)(float *dx, int activation, const lanes_pixels *p);
    void (*add)(float *y, const lanes_pixels *p);
    /* The largest value: the first of equal ones, the last NaN where there is one. Its gradient adds dy to the place in
     * dx that was taken; dx lies as x does. */
    void (*max)(float *y, const lanes_window *w);
    void (*max_gradient)(float *dx, const float *dy, const lanes_window *w);
    void (*mean)(float *y, const lanes_window *w);
    /* to += from * share; where `first`, to = from * share. */
    void (*add_share)(float *to, const float *from, float share, int64_t channels, int first);
} lanes;

extern const lanes lanes_avx512, lanes_avx2, lanes_portable;

#endif
