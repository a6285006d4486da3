/*
 * focal forward: the mean of alpha (1 - p)^gamma (-log p), or the number of right answers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/focal.h"

ref_value REF(focal_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    double sum = 0, magnitude = 0, count = (double)focal_samples(p, b);
    (void)i;
    (void)index;
    if (slot == CLASS_CORRECT) return class_correct(p, b);
    if (count == 0) return (ref_value){0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        int64_t label = class_label(p, b, sample);
        if (label < 0) continue;
        const real *x = class_row(p, b, sample);
        class_softmax s = class_softmax_of(p, x, label);
        double loss = p->alpha * pow(s.others / s.sum, p->gamma) * class_entropy(&s, x, label);
        sum += loss;
        magnitude += loss * (1 + p->gamma * (1 + s.range)); /* a power carries gamma times the error of its base */
    }
    return (ref_value){sum / count, magnitude / count};
}
