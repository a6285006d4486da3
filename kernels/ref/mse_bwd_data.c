/*
 * mse gradient, one element: dx = 2 (x - t) dloss / (B C).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(mse_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[MSE_X][0], *t = b->plane[MSE_T][0], *dloss = b->plane[MSE_LOSS][0];
    int64_t at = index / p->in_channels[0] * p->in_pitch[0] + index % p->in_channels[0];
    double factor = 2 * (double)*dloss / ((double)p->batch * (double)p->in_channels[0]);
    (void)slot;
    (void)i;
    return (ref_value){factor * ((double)x[at] - (double)t[at]), fabs(factor) * (fabs(x[at]) + fabs(t[at]))};
}
