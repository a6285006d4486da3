/*
 * The gradient behind the ReLU of bn_add_act, read off y: it is dz, and what the normalisation gets.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BN_ADD_ACT_H
#define BRAID_KERNELS_REF_BN_ADD_ACT_H

#include "kernels/ref/bn_fused.h"

static inline ref_value bn_add_act_gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *dy = b->plane[BN_FUSED_DY][i], *y = b->plane[BN_FUSED_Y][i];
    int64_t at = pixel * p->in_pitch[i] + c;
    if (y[at] <= 0) return (ref_value){0, 0};
    return (ref_value){dy[at], fabs(dy[at])};
}

#endif
