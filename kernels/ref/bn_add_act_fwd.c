/*
 * bn_add_act forward, one element: y = relu(x * scale + shift + z), z with a scale and shift of its own where zn1.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_fused.h"

static ref_value residual(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *z = b->plane[BN_FUSED_Z][i], *scale = b->plane[BN_FUSED_ZSCALE][i],
               *shift = b->plane[BN_FUSED_ZSHIFT][i];
    real value = z[pixel * p->in_pitch[i] + c];
    if (!p->residual_norm) return (ref_value){value, fabs(value)};
    return (ref_value){value * scale[c] + shift[c], fabs(value * scale[c]) + fabs(shift[c])};
}

ref_value REF(bn_add_act_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (bn_fused_blanks(b, i, pixel, p->size[0] * p->size[1])) return (ref_value){0, 0};
    ref_value u = bn_fused_value(p, b, i, pixel, c), z = residual(p, b, i, pixel, c);
    return act_of(p, (ref_value){(real)((real)u.value + (real)z.value), u.magnitude + z.magnitude});
}
