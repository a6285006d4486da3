/*
 * The loops over arenas of parameters, once per instruction set: what an optimiser does to each element, and the
 * sum of squares of all gradients. Products and sums are rounded one by one, never fused, in the order that
 * src/ops/ gives for each optimiser; quotients and roots are exact to the last bit. So all instruction sets, and
 * the reference in f32, give the same bits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_UPDATES_H
#define BRAID_KERNELS_CPU_ISA_UPDATES_H

#include "kernels/cpu/isa/channels.h"

typedef enum update_kind {
    UPDATE_SGD,
    UPDATE_SGD_MOMENTUM,
    UPDATE_SGD_NESTEROV,
    UPDATE_ADAM,
    UPDATE_ADAMW,
    UPDATE_RMSPROP,
    UPDATE_RMSPROP_MOMENTUM,
    UPDATE_KIND_COUNT
} update_kind;

/* The factors of one group, made in double and rounded once. What a kind does not use is left zero. */
typedef struct update_rule {
    float scale;       /* of the gradient */
    float decay;       /* share of w that is added to the gradient */
    float keep;        /* adamw: what the decay leaves of w */
    float rate;        /* minus the learning rate; adam: over its bias correction */
    float momentum;    /* what is kept of m */
    float mean_share;  /* adam: how far m goes towards the gradient */
    float square_keep; /* what is kept of v, and how much of g * g is added */
    float square_share;
    float root; /* adam: what the root of v is divided by */
    float eps;
    int live; /* 0: the elements of the group stay as they are */
} update_rule;

/* `count` elements in a row, of one group. m and v are NULL where the kind has none. */
typedef struct update_span {
    float *w;
    const float *g;
    float *m, *v;
    int64_t count;
} update_span;

typedef struct updates {
    const channel_loops *loops;
    void (*run[UPDATE_KIND_COUNT])(const update_rule *r, const update_span *s);
    /* The sum of squares, in double; always in the same order. */
    double (*squares)(const float *g, int64_t count);
} updates;

extern const updates updates_avx512, updates_avx2, updates_portable;

#endif
