/*
 * conv2d_scale_bias_act behind its convolution. The equation is in src/ops/conv2d_scale_bias_act.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_CONV2D_SCALE_BIAS_ACT_H
#define BRAID_KERNELS_REF_CONV2D_SCALE_BIAS_ACT_H

#include "kernels/ref/act.h"

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

/* The convolution alone: what lies in the slot of its bias is the scale here. */
static inline ref_value conv2d_unscaled(const braid_problem *p, const buffers *b, int i, int64_t index) {
    buffers unbiased = {0};
    unbiased.plane[CONV2D_X][i] = b->plane[CONV2D_SCALE_BIAS_ACT_X][i];
    unbiased.plane[CONV2D_W][i] = b->plane[CONV2D_SCALE_BIAS_ACT_W][i];
    return REF(conv2d_fwd)(p, &unbiased, CONV2D_Y, i, index);
}

/* Element `index` of y_i, which is not blanked, from its convolution. */
static inline ref_value conv2d_scaled(const braid_problem *p, const buffers *b, int i, int64_t index, ref_value u) {
    const real *scale = b->plane[CONV2D_SCALE_BIAS_ACT_SCALE][i], *shift = b->plane[CONV2D_SCALE_BIAS_ACT_SHIFT][i];
    const real *z = b->plane[CONV2D_SCALE_BIAS_ACT_Z][i];
    int64_t k = index % p->out_channels[i], pixel = index / p->out_channels[i];
    u.value = (real)((real)u.value * scale[k] + shift[k]);
    u.magnitude = u.magnitude * fabs(scale[k]) + fabs(shift[k]);
    if (p->add) {
        u.value = (real)(u.value + z[pixel * p->out_pitch[i] + k]);
        u.magnitude += fabs(z[pixel * p->out_pitch[i] + k]);
    }
    return act_of(p, u);
}

#endif
