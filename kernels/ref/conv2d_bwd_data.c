/*
 * conv2d data gradient, one element: dx[b][h][w][c] gathers every output that read this input; with add1
 * a[b][h][w][c] more, of a blanked sample that alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/conv2d.h"

ref_value REF(conv2d_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    ref_value sum = conv2d_dx(p, b, i, index, conv2d_given);
    const real *a = b->plane[CONV2D_A][i];
    if (!a) return sum;
    const real added = a[index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i]];
    return (ref_value){(real)(sum.value + added), sum.magnitude + fabs(added)};
}
