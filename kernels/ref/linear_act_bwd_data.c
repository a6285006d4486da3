/*
 * linear_act data gradient, one element: dx[b][c] = sum over k of g[b][k] * w[k][c].
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/linear_act.h"

ref_value REF(linear_act_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *w = b->plane[LINEAR_ACT_W][i];
    int64_t c = index % p->in_channels[i], sample = index / p->in_channels[i];
    ref_value sum = {0, 0};
    if (mask_blanks(b->plane[LINEAR_ACT_MASK][i], sample)) return sum;
    for (int64_t k = 0; k < p->out_channels[i]; k++) {
        ref_value g = linear_act_gradient(p, b, i, sample, k);
        real weight = w[k * p->in_channels[i] + c];
        sum.value = (real)(sum.value + (real)g.value * weight);
        sum.magnitude += g.magnitude * fabs(weight);
    }
    return sum;
}
