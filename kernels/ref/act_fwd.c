/*
 * act forward, one element: y = f(x).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/act.h"

ref_value REF(act_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[ACT_X][i];
    real value = x[index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i]];
    double y = act_value(p->activation, value);
    return (ref_value){y, fabs(y) + (p->activation == BRAID_ACTIVATION_RELU ? 0 : fabs(value))};
}
