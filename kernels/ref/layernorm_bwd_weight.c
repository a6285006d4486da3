/*
 * The gradients of gamma and beta of layernorm: sums over the pixels of dy * xhat and of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/layernorm.h"

ref_value REF(layernorm_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *dy = b->plane[LAYERNORM_Y][i];
    double sum = 0, magnitude = 0;
    for (int64_t pixel = 0; pixel < p->batch * p->size[0] * p->size[1]; pixel++) {
        double term = (double)dy[pixel * p->in_pitch[i] + index];
        if (slot == LAYERNORM_GAMMA) {
            layernorm_row row = layernorm_row_of(p, b, i, pixel);
            term *= layernorm_xhat(&row, index);
        }
        sum += term;
        magnitude += fabs(term);
    }
    return (ref_value){sum, magnitude};
}
