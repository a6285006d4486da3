/*
 * act gradient, one element: dx = dy * f'(x); behind a closed ReLU 0, even of an infinite dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/act.h"

ref_value REF(act_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[ACT_X][i], *dy = b->plane[ACT_Y][i];
    int64_t at = index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i];
    double slope = act_slope(p->activation, x[at]);
    int bends = p->activation != BRAID_ACTIVATION_RELU;
    if (!bends && slope == 0) return (ref_value){0, 0}; /* whatever dy holds */
    return (ref_value){(real)(dy[at] * slope), fabs(dy[at]) * (fabs(slope) + bends)};
}
