/*
 * The samples that the focal loss is a mean of.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_FOCAL_H
#define BRAID_KERNELS_REF_FOCAL_H

#include "kernels/ref/class_loss.h"

static inline int64_t focal_samples(const braid_problem *p, const buffers *b) {
    int64_t count = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) count += class_label(p, b, sample) >= 0;
    return count;
}

#endif
