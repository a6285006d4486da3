/*
 * li_conv2d data gradients, one element of dx_i or dz. The equations are in src/ops/li_conv2d.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/li_conv2d.h"

ref_value REF(li_conv2d_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == LI_CONV2D_X) return conv2d_dx(p, b, i, index, li_conv2d_dr);
    const real *dzy = b->plane[LI_CONV2D_ZY][0], *wz = b->plane[LI_CONV2D_WZ][0];
    int64_t a = index % p->integrated_in, pixel = index / p->integrated_in;
    int64_t column = pixel % p->size[1], row = pixel / p->size[1] % p->size[0],
            sample = pixel / p->size[1] / p->size[0];
    ref_value sum = {0, 0};
    if (row % p->stride[0] || column % p->stride[1]) return sum;
    int64_t out = (sample * conv2d_out_size(p, 0) + row / p->stride[0]) * conv2d_out_size(p, 1) + column / p->stride[1];
    for (int64_t o = 0; o < p->integrated_out; o++) {
        real product = wz[o * p->integrated_in + a] * dzy[out * p->integrated_out + o];
        sum.value = (real)(sum.value + product);
        sum.magnitude += fabs(product);
    }
    return sum;
}
