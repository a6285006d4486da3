/*
 * Work along the channels of consecutive pixels, one lane per channel: the loops of batch normalisation,
 * activations and pooling, once per instruction set. Planes are f32, bf16 or f16; arithmetic is that of floats, sums
 * of normalisation are made in double, a few pixels at a time, and a result is rounded once, when it is stored.
 * Pixels lie `pitch` values apart; lanes behind the channels are neither read nor written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_CHANNELS_H
#define BRAID_KERNELS_CPU_ISA_CHANNELS_H

#include <stdint.h>

#include "braid.h"
#include "kernels/cpu/isa/halves.h"

_Static_assert(BRAID_ACTIVATION_COUNT == 4, "a new activation goes here, too: docs/add_an_op.md");

/* What becomes of a value x, and of others z and y at the same place; a to f are coefficients of the channel. The
 * activations f() come in the order of braid_activation. */
typedef enum channel_kind {
    CHANNEL_RELU, /* f(x) */
    CHANNEL_GELU,
    CHANNEL_GELU_TANH,
    CHANNEL_RELU_GRADIENT, /* z f'(x) */
    CHANNEL_GELU_GRADIENT,
    CHANNEL_GELU_TANH_GRADIENT,
    CHANNEL_ADD,         /* x + z */
    CHANNEL_SCALE_SHIFT, /* x a + b */
    CHANNEL_BN_GRADIENT, /* z a + ((x - d) b + c); where b is NULL, z a alone, in all gradients */
    CHANNEL_BN_RELU,     /* f(x a + b) */
    CHANNEL_BN_GELU,
    CHANNEL_BN_GELU_TANH,
    CHANNEL_BN_ADD_RELU,      /* relu(x a + b + z) */
    CHANNEL_BN_ADD_NORM_RELU, /* relu(x a + b + (z c + d)) */
    CHANNEL_GATE_RELU,        /* z f'(x a + b) */
    CHANNEL_GATE_GELU,
    CHANNEL_GATE_GELU_TANH,
    CHANNEL_BN_RELU_GRADIENT, /* with g = z f'(x e + f): g a + ((x - d) b + c) */
    CHANNEL_BN_GELU_GRADIENT,
    CHANNEL_BN_GELU_TANH_GRADIENT,
    CHANNEL_BN_ADD_GRADIENT, /* with g = z where y is above 0, else 0: g a + ((x - d) b + c), and g to `also` */
} channel_kind;

#define CHANNEL_COEFFICIENTS 6
#define CHANNEL_STREAM_BYTES 64 /* what a store past the caches must be aligned to */

/* Consecutive pixels, each made on its own. */
typedef struct channel_map {
    channel_kind kind;
    braid_dtype dtype;              /* of x, z and out */
    int stream;                     /* store past the caches: pixels have no gap, and out is aligned to 64 bytes */
    int64_t channels, pitch, count; /* of pixels */
    const void *x, *z, *y;          /* [count][pitch]; z and y where the kind has them */
    void *out, *also;               /* [count][pitch]; `also` where the kind has it */
    const float *coefficient[CHANNEL_COEFFICIENTS]; /* [channels]; a to f, as many as the kind has */
} channel_map;

/* `count` values in another format, rounded once. */
typedef struct channel_cast {
    braid_dtype dtype, to_dtype; /* f32, bf16 or f16 */
    int stream;                  /* store past the caches: `to` is aligned to 64 bytes */
    int64_t count;
    const void *from;
    void *to;
} channel_cast;

/* first[c] += sum of e, second[c] += sum of e * (x - center[c]); e is dy, or x - center[c] where dy is NULL. A gate
 * stands before dy: CHANNEL_GATE_RELU to CHANNEL_GATE_GELU_TANH make it dy f'(x scale + shift), CHANNEL_BN_ADD_GRADIENT
 * lets it through where y is above 0. */
typedef struct channel_sums {
    braid_dtype dtype; /* of x and dy */
    int64_t channels, pitch, count;
    const void *x, *dy, *y;
    const float *center, *scale, *shift;
    double *first, *second;
    int gate; /* 0: none, else a channel_kind */
} channel_sums;

/* The pixels of a pooling window that lie inside the input: rows by columns, so many values apart. */
typedef struct channel_window {
    braid_dtype dtype;
    int64_t channels, rows, columns; /* at least one of each */
    int64_t row_step, column_step;
    const void *x;              /* its first pixel */
    const float *scale, *shift; /* not NULL: of f(x scale + shift), with the activation of `kind`, the largest value */
    channel_kind kind;          /* CHANNEL_RELU to CHANNEL_GELU_TANH */
} channel_window;

/* Where the gradient of a window is added up: place (r, s) of the window is values[origin + r * row_step + s *
 * column_step], for the rows and columns that are named; the others are left out. */
typedef struct channel_tile {
    float *values;
    int64_t origin, row_step, column_step;
    int64_t first_row, last_row, first_column, last_column; /* [first, last) */
} channel_tile;

/* `count` sums of one pixel and what is made of them: out = f((sums * scale + shift) + z). What is NULL is left out. */
typedef struct channel_epilogue {
    braid_dtype dtype; /* of z, raw and out */
    braid_activation activation;
    int64_t count;
    const float *sums, *scale, *shift; /* `sums` may be `out` */
    const void *z;
    void *raw; /* gets the sums as they came */
    void *out;
} channel_epilogue;

typedef struct channel_loops {
    const char *name; /* "avx512" */
    double flops;     /* a second, of one core: what a cost model may expect */
    halves bf16, f16;
    void (*map)(const channel_map *m);
    void (*cast)(const channel_cast *c);
    void (*epilogue)(const channel_epilogue *f);
    void (*sums)(const channel_sums *s);
    /* The largest value: the first of equal ones, the last NaN where there is one. Its gradient adds dy, of the
     * window's dtype, to the place that was taken. */
    void (*max)(void *y, const channel_window *w);
    void (*max_gradient)(const channel_tile *to, const void *dy, const channel_window *w);
    void (*mean)(void *y, const channel_window *w);
    /* to += from * share; `from` holds `count` values of the dtype. */
    void (*add_share)(float *to, const void *from, braid_dtype dtype, float share, int64_t count);
    /* The middle one of three values, where none is NaN. */
    void (*median)(float *to, const void *const from[3], braid_dtype dtype, int64_t count);
    /* `count` floats stored as the dtype. */
    void (*store)(void *to, braid_dtype dtype, const float *from, int64_t count);
} channel_loops;

extern const channel_loops channels_avx512_bf16, channels_avx512, channels_avx2, channels_portable;

#endif
