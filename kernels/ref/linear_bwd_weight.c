/*
 * linear weight gradient, one element: dw[k][c] = sum over active samples of dy[b][k] * x[b][c];
 * dbias[k] = sum of dy[b][k].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(linear_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[LINEAR_X][i], *dy = b->plane[LINEAR_Y][i];
    int is_bias = slot == LINEAR_BIAS;
    int64_t c = is_bias ? 0 : index % p->in_channels[i], k = is_bias ? index : index / p->in_channels[i];
    real sum = 0, magnitude = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[LINEAR_MASK][i], sample)) continue;
        real product = dy[sample * p->out_pitch[i] + k] * (is_bias ? 1 : x[sample * p->in_pitch[i] + c]);
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
