/*
 * The gradient behind the activation of linear_act: g = dy * f'(u). ReLU is read off y, which is 0 where u is not
 * positive.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_LINEAR_ACT_H
#define BRAID_KERNELS_REF_LINEAR_ACT_H

#include "kernels/ref/act.h"

static inline ref_value linear_act_gradient(const braid_problem *p, const buffers *b, int i, int64_t sample,
                                            int64_t k) {
    int relu = p->activation == BRAID_ACTIVATION_RELU;
    const real *before = b->plane[relu ? LINEAR_ACT_Y : LINEAR_ACT_U][i], *dy = b->plane[LINEAR_ACT_DY][i];
    int64_t at = sample * p->out_pitch[i] + k;
    double slope = act_slope(p->activation, before[at]);
    if (relu && slope == 0) return (ref_value){0, 0}; /* whatever dy holds */
    return (ref_value){(real)(dy[at] * slope), fabs(dy[at]) * (fabs(slope) + !relu)};
}

#endif
