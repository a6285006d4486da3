/*
 * bn_act_conv2d, one element of a (bn_act's), or of y: conv2d's sum (kernels/ref/conv2d.h), whose slots of w and the
 * mask it has, of a as it is stored. The equations are in src/ops/bn_act_conv2d.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "kernels/ref/act.h"
#include "kernels/ref/conv2d.h"

/* f(x * scale + shift). */
static ref_value activated(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    const real *x = b->plane[BN_ACT_CONV2D_X][i], *scale = b->plane[BN_ACT_CONV2D_SCALE][i],
               *shift = b->plane[BN_ACT_CONV2D_SHIFT][i];
    const real product = x[pixel * p->in_pitch[i] + c] * scale[c];
    return act_of(p, (ref_value){product + shift[c], fabs(product) + fabs(shift[c])});
}

static ref_value stored(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    ref_value a = activated(p, b, i, pixel, c);
    a.value = dtype_round(p->dtype, a.value);
    return a;
}

ref_value REF(bn_act_conv2d)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == BN_ACT_CONV2D_Y) return conv2d_y(p, b, i, index, NULL, stored);
    const int64_t pixel = index / p->in_channels[i];
    if (mask_blanks(b->plane[BN_ACT_CONV2D_MASK][i], pixel / (p->size[0] * p->size[1]))) return (ref_value){0, 0};
    return activated(p, b, i, pixel, index % p->in_channels[i]);
}
