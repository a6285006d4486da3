/*
 * What the references of bn_act, bn_add_act and bn_act_pool share: the value before the activation, and the backward
 * equations on the slots of the fused ops.
 *
 * Near the kink of ReLU, and where two values of a pooling window are nearly equal, rounding decides which way a
 * gradient goes: both are right there, and the magnitude says so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BN_FUSED_H
#define BRAID_KERNELS_REF_BN_FUSED_H

#include "kernels/ref/act.h"
#include "kernels/ref/bn.h"

#define BN_FUSED_NEAR 1e-5     /* of the magnitude: well beyond the rounding of a float */
#define BN_FUSED_EITHER 0x1p24 /* times a gradient: a magnitude whose bound covers the gradient itself */

/* x * scale + shift. */
static inline ref_value bn_fused_value(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *x = b->plane[BN_FUSED_X][i], *scale = b->plane[BN_FUSED_SCALE][i], *shift = b->plane[BN_FUSED_SHIFT][i];
    real product = x[pixel * p->in_pitch[i] + c] * scale[c];
    return (ref_value){product + shift[c], fabs(product) + fabs(shift[c])};
}

/* dy f'(u). */
static inline ref_value bn_fused_slope(const braid_problem *p, ref_value u, ref_value dy) {
    double slope = act_slope(p->activation, u.value);
    double value = slope == 0 ? 0 : (real)(dy.value * slope);
    if (p->activation != BRAID_ACTIVATION_RELU)
        return (ref_value){value, dy.magnitude * (fabs(slope) + 1 + u.magnitude)};
    if (fabs(u.value) < BN_FUSED_NEAR * u.magnitude) return (ref_value){value, dy.magnitude * BN_FUSED_EITHER};
    return (ref_value){value, slope == 0 ? 0 : dy.magnitude};
}

/* 1 where the sample of a pixel is blanked; a sample has so many pixels. */
static inline int bn_fused_blanks(const buffers *b, int i, int64_t pixel, int64_t pixels) {
    return mask_blanks(b->plane[BN_FUSED_MASK][i], pixel / pixels);
}

/* Element `index` of dgamma or dbeta from the gradients of the normalised values. */
static inline ref_value bn_fused_sum(const braid_problem *p, const buffers *b, int slot, int i, int64_t index,
                                     bn_gradient gradient) {
    const bn_view v = {b->plane[BN_FUSED_X][i], b->plane[BN_FUSED_CENTER][i], b->plane[BN_FUSED_RSTD][i],
                       b->plane[BN_FUSED_MASK][i]};
    return bn_sum(p, b, &v, i, index, slot == BN_FUSED_DBETA, gradient);
}

/* Element `index` of dx. */
static inline ref_value bn_fused_dx(const braid_problem *p, const buffers *b, int i, int64_t index,
                                    bn_gradient gradient) {
    const bn_view v = {b->plane[BN_FUSED_X][i], b->plane[BN_FUSED_CENTER][i], b->plane[BN_FUSED_RSTD][i],
                       b->plane[BN_FUSED_MASK][i]};
    const real *gamma = b->plane[BN_FUSED_GAMMA][i];
    const real *dgamma = b->plane[BN_FUSED_DGAMMA][i], *dbeta = b->plane[BN_FUSED_DBETA][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    return bn_input_gradient(p, &v, i, pixel, c, gamma[c], gradient(p, b, i, pixel, c),
                             (ref_value){dgamma[c], fabs(dgamma[c])}, (ref_value){dbeta[c], fabs(dbeta[c])});
}

#endif
