/*
 * bn_add_act data gradients, one element: dz is the gradient behind the ReLU, dx follows from it. The equations are in
 * src/ops/bn_add_act.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_add_act.h"

ref_value REF(bn_add_act_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (slot == BN_FUSED_DX) return bn_fused_dx(p, b, i, index, bn_add_act_gradient);
    if (bn_fused_blanks(b, i, pixel, p->size[0] * p->size[1])) return (ref_value){0, 0};
    ref_value g = bn_add_act_gradient(p, b, i, pixel, c);
    return (ref_value){g.value, 0}; /* a copy, to the bit */
}
