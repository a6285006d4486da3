/*
 * conv2d_dgrad_bn_reduce, one element of dx, or one channel of the sums over it. The latter read dx from its slot, as
 * it is stored. The equations are in src/ops/conv2d_dgrad_bn_reduce.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/ref/ref.h"

ref_value REF(conv2d_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
ref_value REF(bn_act_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
ref_value REF(bn_add_act_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

static void bind(buffers *to, int slot, const buffers *from, int own) {
    memcpy(to->plane[slot], from->plane[own], sizeof to->plane[slot]);
}

static ref_value dx(const braid_problem *p, const buffers *b, int i, int64_t index) {
    const braid_problem conv = conv2d_dgrad_bn_reduce_conv(p);
    buffers of = {0};
    bind(&of, CONV2D_W, b, CONV2D_DGRAD_BN_REDUCE_W);
    bind(&of, CONV2D_MASK, b, CONV2D_DGRAD_BN_REDUCE_MASK);
    bind(&of, CONV2D_Y, b, CONV2D_DGRAD_BN_REDUCE_DY);
    bind(&of, CONV2D_A, b, CONV2D_DGRAD_BN_REDUCE_A);
    return REF(conv2d_bwd_data)(&conv, &of, CONV2D_X, i, index);
}

ref_value REF(conv2d_dgrad_bn_reduce)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == CONV2D_DGRAD_BN_REDUCE_DX) return dx(p, b, i, index);
    const int sum = slot == CONV2D_DGRAD_BN_REDUCE_DBETA ? BN_FUSED_DBETA : BN_FUSED_DGAMMA;
    const braid_problem norm = conv2d_dgrad_bn_reduce_norm(p);
    buffers of = {0};
    bind(&of, BN_FUSED_X, b, CONV2D_DGRAD_BN_REDUCE_R);
    bind(&of, BN_FUSED_Y, b, CONV2D_DGRAD_BN_REDUCE_X);
    bind(&of, BN_FUSED_DY, b, CONV2D_DGRAD_BN_REDUCE_DX);
    bind(&of, BN_FUSED_SCALE, b, CONV2D_DGRAD_BN_REDUCE_SCALE);
    bind(&of, BN_FUSED_SHIFT, b, CONV2D_DGRAD_BN_REDUCE_SHIFT);
    bind(&of, BN_FUSED_CENTER, b, CONV2D_DGRAD_BN_REDUCE_CENTER);
    bind(&of, BN_FUSED_RSTD, b, CONV2D_DGRAD_BN_REDUCE_RSTD);
    bind(&of, BN_FUSED_MASK, b, CONV2D_DGRAD_BN_REDUCE_MASK);
    if (p->add & CONV2D_DGRAD_BN_REDUCE_ADD_Z) return REF(bn_add_act_bwd_weight)(&norm, &of, sum, i, index);
    return REF(bn_act_bwd_weight)(&norm, &of, sum, i, index);
}
