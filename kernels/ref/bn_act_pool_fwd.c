/*
 * bn_act_pool forward, one element: the largest f(x * scale + shift) of a window.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_act_pool.h"

ref_value REF(bn_act_pool_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (bn_fused_blanks(b, i, pixel, height * width)) return (ref_value){0, 0};
    bn_taken taken = bn_act_pool_taken(p, b, i, c, pixel / width / height, pixel / width % height, pixel % width);
    return taken.pixel < 0 ? (ref_value){-INFINITY, 0} : taken.y;
}
