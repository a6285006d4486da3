/*
 * bn_apply, one element: y = x * scale + shift.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(bn_apply)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[BN_APPLY_X][i], *scale = b->plane[BN_APPLY_SCALE][i], *shift = b->plane[BN_APPLY_SHIFT][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (mask_blanks(b->plane[BN_APPLY_MASK][i], pixel / (p->size[0] * p->size[1]))) return (ref_value){0, 0};
    real product = x[pixel * p->in_pitch[i] + c] * scale[c];
    return (ref_value){product + shift[c], fabs(product) + fabs(shift[c])};
}
