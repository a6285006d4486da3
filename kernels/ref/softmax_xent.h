/*
 * The weights of softmax_xent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_SOFTMAX_XENT_H
#define BRAID_KERNELS_REF_SOFTMAX_XENT_H

#include "kernels/ref/class_loss.h"

static inline double xent_weight(const buffers *b, int64_t c) {
    const real *weights = b->plane[CLASS_WEIGHTS][0];
    return weights ? weights[c] : 1;
}

/* The sum over the samples that count. */
static inline double xent_weight_sum(const braid_problem *p, const buffers *b) {
    double sum = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        int64_t label = class_label(p, b, sample);
        if (label >= 0) sum += xent_weight(b, label);
    }
    return sum;
}

#endif
