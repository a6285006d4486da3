/*
 * Class weights of softmax_xent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LOSS_SOFTMAX_XENT_H
#define BRAID_KERNELS_CPU_LOSS_SOFTMAX_XENT_H

#include "kernels/cpu/loss/class_loss.h"

static inline double xent_weight(const float *weights, int64_t c) { return weights ? (double)weights[c] : 1; }

/* Over all classes; only smoothing asks for it. */
static inline double xent_weight_sum(const braid_problem *p, const buffers *b) {
    double sum = 0;
    for (int64_t c = 0; c < p->in_channels[0] && p->smoothing > 0; c++)
        sum += xent_weight(b->plane[CLASS_WEIGHTS][0], c);
    return sum;
}

#endif
