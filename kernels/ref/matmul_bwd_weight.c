/*
 * The gradient of the second matrix of matmul: dw[c][k] = the sum over samples of x[b][c] * dy[b][k], laid as w is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(matmul_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[MATMUL_X][i], *dy = b->plane[MATMUL_Y][i];
    int64_t width = p->transpose ? p->in_channels[i] : p->out_channels[i];
    int64_t c = p->transpose ? index % width : index / width, k = p->transpose ? index / width : index % width;
    real sum = 0, magnitude = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        real product = x[sample * p->in_pitch[i] + c] * dy[sample * p->out_pitch[i] + k];
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
