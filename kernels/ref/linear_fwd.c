/*
 * linear forward, one output element: y[b][k] = bias[k] + sum over c of x[b][c] * w[k][c].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(linear_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[LINEAR_X][i], *w = b->plane[LINEAR_W][i], *bias = b->plane[LINEAR_BIAS][i];
    int64_t k = index % p->out_channels[i], sample = index / p->out_channels[i];
    if (mask_blanks(b->plane[LINEAR_MASK][i], sample)) return (ref_value){0, 0};
    real sum = bias ? bias[k] : 0, magnitude = (real)fabs(sum);
    for (int64_t c = 0; c < p->in_channels[i]; c++) {
        real product = x[sample * p->in_pitch[i] + c] * w[k * p->in_channels[i] + c];
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
