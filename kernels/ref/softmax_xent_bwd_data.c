/*
 * softmax_xent gradient, one logit:
 * dx_c = dloss / sum of w_y * (p_c ((1 - s) w_y + s/C sum of w) - s/C w_c - [c is y] (1 - s) w_y).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/softmax_xent.h"

ref_value REF(softmax_xent_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    int64_t sample = index / p->in_channels[0], c = index % p->in_channels[0], label = class_label(p, b, sample);
    double batch_weight = xent_weight_sum(p, b), share = p->smoothing / (double)p->in_channels[0], all = 0;
    (void)slot;
    (void)i;
    if (label < 0 || batch_weight == 0) return (ref_value){0, 0};
    for (int64_t k = 0; k < p->in_channels[0] && p->smoothing > 0; k++) all += xent_weight(b, k);
    const real *x = class_row(p, b, sample), *dloss = b->plane[CLASS_LOSS][0];
    if (p->in_channels[0] == 1) return (ref_value){*x - *x, 0}; /* one class is certain, unless it is no number */
    class_softmax s = class_softmax_of(p, x, label);
    double own = (1 - p->smoothing) * xent_weight(b, label), scale = *dloss / batch_weight;
    double probability = exp(x[c] - s.largest) / s.sum;
    /* the label's own term is -own (1 - p), written without the difference */
    double hard = c == label ? -own * s.others / s.sum : own * probability;
    double soft = share * all * probability, taken = share * xent_weight(b, c);
    return (ref_value){scale * (hard + soft - taken),
                       fabs(scale) * ((fabs(hard) + fabs(soft)) * (1 + s.range) + fabs(taken))};
}
