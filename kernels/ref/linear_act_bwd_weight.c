/*
 * linear_act weight gradient, one element: dw[k][c] = sum over active samples of g[b][k] * x[b][c]; dbias[k] = sum of
 * g[b][k].
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/linear_act.h"

ref_value REF(linear_act_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[LINEAR_ACT_X][i];
    int is_bias = slot == LINEAR_ACT_BIAS;
    int64_t c = is_bias ? 0 : index % p->in_channels[i], k = is_bias ? index : index / p->in_channels[i];
    ref_value sum = {0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[LINEAR_ACT_MASK][i], sample)) continue;
        ref_value g = linear_act_gradient(p, b, i, sample, k);
        real value = is_bias ? 1 : x[sample * p->in_pitch[i] + c];
        sum.value = (real)(sum.value + (real)g.value * value);
        sum.magnitude += g.magnitude * fabs(value);
    }
    return sum;
}
