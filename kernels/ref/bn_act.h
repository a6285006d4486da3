/*
 * The gradient behind the activation of bn_act.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BN_ACT_H
#define BRAID_KERNELS_REF_BN_ACT_H

#include "kernels/ref/bn_fused.h"

static inline ref_value bn_act_gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *dy = b->plane[BN_FUSED_DY][i];
    real gradient = dy[pixel * p->in_pitch[i] + c];
    return bn_fused_slope(p, bn_fused_value(p, b, i, pixel, c), (ref_value){gradient, fabs(gradient)});
}

#endif
