/*
 * focal gradient, one logit: with q = 1 - p of the label's class and A = alpha q^gamma (1 - gamma p log(p) / q),
 * dx_c = dloss / samples * A p_c, and for the label's own class dloss / samples * -A q.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/focal.h"

ref_value REF(focal_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    int64_t sample = index / p->in_channels[0], c = index % p->in_channels[0], label = class_label(p, b, sample);
    (void)slot;
    (void)i;
    if (label < 0) return (ref_value){0, 0};
    const real *x = class_row(p, b, sample), *dloss = b->plane[CLASS_LOSS][0];
    class_softmax s = class_softmax_of(p, x, label);
    double missing = s.others / s.sum, entropy = class_entropy(&s, x, label);
    if (missing == 0) return (ref_value){0, 0};
    double bend = p->gamma * exp(-entropy) * entropy / missing;
    double factor = *dloss / (double)focal_samples(p, b) * p->alpha * pow(missing, p->gamma) * (1 + bend);
    double value = c == label ? -factor * missing : factor * exp(x[c] - s.largest) / s.sum;
    return (ref_value){value, fabs(value) * (1 + p->gamma) * (1 + s.range)};
}
