/*
 * What the kernels of softmax_xent and focal share: the softmax of a row against its label, the sums over all
 * rows, and the writing of gradients. Logits are f32, f16 or bf16; everything about a whole row is double.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LOSS_CLASS_LOSS_H
#define BRAID_KERNELS_CPU_LOSS_CLASS_LOSS_H

#include "kernels/cpu/tile/flat_parts.h"

/* The softmax of one row about its largest logit; all NaN where that is not finite. */
typedef struct class_softmax {
    float largest;
    double sum;     /* of the exponentials */
    double label;   /* the label's exponential */
    double others;  /* the sum without it */
    double entropy; /* -log of the label's softmax */
} class_softmax;

/* One launch of a forward pass. */
typedef struct class_loss {
    const braid_problem *p;
    const flat_parts *k;
    const buffers *b;
    double weight_sum; /* over the classes; 0 where nobody asks */
    /* The loss of a sample, and what it counts in the mean. */
    double (*sample)(const struct class_loss *a, const class_softmax *s, int64_t sample, int32_t label, double *weight);
} class_loss;

/* Makes loss and correct of the whole batch. `state` of flat_parts_create_sums is in `k`. */
void class_loss_run(class_loss *a);

/* The sum over the classes of weights (largest - x) of a sample; NULL: all weights are 1. */
double class_loss_distances(const class_loss *a, const class_softmax *s, int64_t sample, const float *weights);

/* What the gradient of a row is made of: dx = e^(x - largest) slope + weights offset; of the label's class `label`. */
typedef struct class_slopes {
    double slope, offset, label;
    const float *weights;
} class_slopes;

/* One launch of a gradient. */
typedef struct class_gradient {
    const braid_problem *p;
    const flat_parts *k;
    const buffers *b;
    double scale;      /* of every gradient; 0: all of them are 0 */
    double weight_sum; /* over the classes; 0 where nobody asks */
    void (*sample)(const struct class_gradient *a, const class_softmax *s, int32_t label, class_slopes *out);
} class_gradient;

/* Writes dx. */
void class_gradient_run(class_gradient *a);

#endif
