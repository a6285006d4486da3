/*
 * What the losses over classes share: the softmax of one row against its label, and the count of right answers.
 * All of it in double.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_CLASS_LOSS_H
#define BRAID_KERNELS_REF_CLASS_LOSS_H

#include <math.h>

#include "kernels/ref/ref.h"

/* The label of a sample; -1 where it is ignored. */
static inline int64_t class_label(const braid_problem *p, const buffers *b, int64_t sample) {
    const int32_t *labels = b->plane[CLASS_LABELS][0];
    return label_is_class(labels[sample], p->in_channels[0]) ? labels[sample] : -1;
}

static inline const real *class_row(const braid_problem *p, const buffers *b, int64_t sample) {
    return (const real *)b->plane[CLASS_X][0] + sample * p->in_pitch[0];
}

/* The softmax of a row about its largest logit. `others` leaves the label's class out. */
typedef struct class_softmax {
    double largest, sum, others;
    double range; /* from the smallest logit to the largest: what a rounding of the logits weighs in an exponential */
} class_softmax;

static inline class_softmax class_softmax_of(const braid_problem *p, const real *x, int64_t label) {
    class_softmax s = {.largest = x[0]};
    for (int64_t c = 0; c < p->in_channels[0]; c++) {
        if (x[c] > s.largest || isnan(x[c])) s.largest = x[c];
    }
    for (int64_t c = 0; c < p->in_channels[0]; c++) {
        double exponential = exp(x[c] - s.largest);
        s.sum += exponential;
        if (c != label) s.others += exponential;
        if (s.largest - x[c] > s.range) s.range = s.largest - x[c];
    }
    return s;
}

/* -log of the softmax of class c. */
static inline double class_entropy(const class_softmax *s, const real *x, int64_t c) {
    return s->largest - x[c] + log(s->sum);
}

/* 1 where the label has the first of the largest logits; a row with a NaN has no right answer. */
static inline int class_is_right(const braid_problem *p, const real *x, int64_t label) {
    for (int64_t c = 0; c < p->in_channels[0]; c++) {
        if (isnan(x[c]) || x[c] > x[label] || (x[c] == x[label] && c < label)) return 0;
    }
    return 1;
}

static inline ref_value class_correct(const braid_problem *p, const buffers *b) {
    int64_t right = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        int64_t label = class_label(p, b, sample);
        right += label >= 0 && class_is_right(p, class_row(p, b, sample), label);
    }
    return (ref_value){(double)right, 0};
}

#endif
