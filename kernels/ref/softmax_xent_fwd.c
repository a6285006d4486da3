/*
 * softmax_xent forward: the loss of the batch, or the number of right answers. The equations are in
 * src/ops/softmax_xent.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/softmax_xent.h"

static double sample_loss(const braid_problem *p, const buffers *b, const real *x, int64_t label) {
    class_softmax s = class_softmax_of(p, x, label);
    double smooth = 0;
    for (int64_t c = 0; c < p->in_channels[0] && p->smoothing > 0; c++) {
        smooth += xent_weight(b, c) * class_entropy(&s, x, c);
    }
    return (1 - p->smoothing) * xent_weight(b, label) * class_entropy(&s, x, label) +
           p->smoothing / (double)p->in_channels[0] * smooth;
}

ref_value REF(softmax_xent_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    double sum = 0, weight = xent_weight_sum(p, b);
    (void)i;
    (void)index;
    if (slot == CLASS_CORRECT) return class_correct(p, b);
    if (weight == 0) return (ref_value){0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        int64_t label = class_label(p, b, sample);
        if (label >= 0) sum += sample_loss(p, b, class_row(p, b, sample), label);
    }
    return (ref_value){sum / weight, fabs(sum / weight)};
}
