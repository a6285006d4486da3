/*
 * matmul forward: y[b][k] = the sum over c of x[b][c] * w[c][k].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/matmul.h"

ref_value REF(matmul_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[MATMUL_X][i], *w = b->plane[MATMUL_W][i];
    int64_t k = index % p->out_channels[i], sample = index / p->out_channels[i];
    real sum = 0, magnitude = 0;
    for (int64_t c = 0; c < p->in_channels[i]; c++) {
        real product = x[sample * p->in_pitch[i] + c] * w[matmul_at(p, i, c, k)];
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
