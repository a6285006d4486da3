/*
 * The gradient of the first matrix of matmul: dx[b][c] = the sum over k of dy[b][k] * w[c][k].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/matmul.h"

ref_value REF(matmul_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *dy = b->plane[MATMUL_Y][i], *w = b->plane[MATMUL_W][i];
    int64_t c = index % p->in_channels[i], sample = index / p->in_channels[i];
    real sum = 0, magnitude = 0;
    for (int64_t k = 0; k < p->out_channels[i]; k++) {
        real product = dy[sample * p->out_pitch[i] + k] * w[matmul_at(p, i, c, k)];
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
