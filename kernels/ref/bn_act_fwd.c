/*
 * bn_act forward, one element: y = f(x * scale + shift).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_fused.h"

ref_value REF(bn_act_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (bn_fused_blanks(b, i, pixel, p->size[0] * p->size[1])) return (ref_value){0, 0};
    return act_of(p, bn_fused_value(p, b, i, pixel, c));
}
