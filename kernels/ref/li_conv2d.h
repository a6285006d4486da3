/*
 * The gradient that the convolutions of li_conv2d get: dr_i = dy_i + v_i^T dzy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_LI_CONV2D_H
#define BRAID_KERNELS_REF_LI_CONV2D_H

#include "kernels/ref/conv2d.h"

static inline ref_value li_conv2d_dr(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t k) {
    const real *dy = b->plane[LI_CONV2D_DY][i], *dzy = b->plane[LI_CONV2D_ZY][0], *v = b->plane[LI_CONV2D_V][i];
    real sum = dy[pixel * p->out_pitch[i] + k];
    double magnitude = fabs(sum);
    for (int64_t o = 0; o < p->integrated_out; o++) {
        real product = v[o * p->out_channels[i] + k] * dzy[pixel * p->integrated_out + o];
        sum += product;
        magnitude += fabs(product);
    }
    return (ref_value){sum, magnitude};
}

#endif
