/*
 * conv2d forward, one output element: y[b][p][q][k]. The equation is in src/ops/conv2d.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/conv2d.h"

static inline ref_value given(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *x = b->plane[CONV2D_X][i];
    const real value = x[pixel * p->in_pitch[i] + c];
    return (ref_value){value, fabs(value)};
}

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return conv2d_y(p, b, i, index, b->plane[CONV2D_BIAS][i], given);
}
