/*
 * linear data gradient, one element: dx[b][c] = sum over k of dy[b][k] * w[k][c].
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(linear_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *dy = b->plane[LINEAR_Y][i], *w = b->plane[LINEAR_W][i];
    int64_t c = index % p->in_channels[i], sample = index / p->in_channels[i];
    if (mask_blanks(b->plane[LINEAR_MASK][i], sample)) return (ref_value){0, 0};
    real sum = 0, magnitude = 0;
    for (int64_t k = 0; k < p->out_channels[i]; k++) {
        real product = dy[sample * p->out_pitch[i] + k] * w[k * p->in_channels[i] + c];
        sum += product;
        magnitude += (real)fabs(product);
    }
    return (ref_value){sum, magnitude};
}
