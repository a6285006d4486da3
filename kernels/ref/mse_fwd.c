/*
 * mse forward: the mean of (x - t)^2, in double.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

ref_value REF(mse_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[MSE_X][0], *t = b->plane[MSE_T][0];
    double sum = 0;
    (void)slot;
    (void)i;
    (void)index;
    if (p->batch == 0) return (ref_value){0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        for (int64_t at = sample * p->in_pitch[0]; at < sample * p->in_pitch[0] + p->in_channels[0]; at++) {
            double away = (double)x[at] - (double)t[at];
            sum += away * away;
        }
    }
    double loss = sum / ((double)p->batch * (double)p->in_channels[0]);
    return (ref_value){loss, loss};
}
