/*
 * Work on runs of numbers that lie side by side: sums in double, exponentials, scaling and random bits, once per
 * instruction set. `count` is the numbers of a run; nothing beside them is touched.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_FLAT_H
#define BRAID_KERNELS_CPU_ISA_FLAT_H

#include "core/rng.h"
#include "kernels/cpu/isa/channels.h"

#define FLAT_WORDS_SLACK 32 /* words that random_words may write behind those asked for */

/* dx = e^(x - center) slope + weight offset. */
typedef struct flat_softmax {
    float center, slope, offset;
    const float *weights; /* [classes]; NULL: all are 1 */
} flat_softmax;

typedef struct flat_loops {
    const channel_loops *loops; /* of the same instruction set: its name, speed and halves */
    /* The largest number; NaN where there is one, -infinity of nothing. */
    float (*largest)(const float *x, int64_t count);
    /* The sum of e^(x - center), in double; no x is above center. NaN counts 0. */
    double (*exponentials)(const float *x, float center, int64_t count);
    /* The sum of weights (center - x), in double; NULL: all weights are 1. */
    double (*distances)(const float *x, const float *weights, float center, int64_t count);
    /* The sum of (x - t)^2, in double; NULL: t is 0. */
    double (*squares)(const float *x, const float *t, int64_t count);
    void (*softmax_gradient)(float *dx, const float *x, const flat_softmax *s, int64_t count);
    /* out = (x - t) factor; NULL: t is 0. */
    void (*scale)(float *out, const float *x, const float *t, float factor, int64_t count);
    /* The numbers 4 b to 4 (b + blocks) - 1 of a sequence of index 4 b, and up to FLAT_WORDS_SLACK further ones. */
    void (*random_words)(uint32_t *words, const rng *from, int64_t blocks);
    /* out = x factor where the upper 24 bits of the word are `limit` or more, else 0. */
    void (*keep)(float *out, const float *x, const uint32_t *words, int32_t limit, float factor, int64_t count);
} flat_loops;

extern const flat_loops flat_avx512, flat_avx2, flat_portable;

#endif
