/*
 * conv2d_pool_bn_bwd_apply, one element of dw: conv2d's sum (kernels/ref/conv2d.h), whose slots of x and the mask it
 * has, of the gradient that bn_act_pool gives, as that is stored. The equations are in
 * src/ops/conv2d_pool_bn_bwd_apply.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "kernels/ref/bn_act_pool.h"
#include "kernels/ref/conv2d.h"

static ref_value gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t k) {
    const braid_problem norm = conv2d_pool_bn_bwd_apply_norm(p);
    buffers of_norm = *b;
    of_norm.plane[BN_FUSED_X][i] = b->plane[CONV2D_POOL_BN_BWD_APPLY_R][i];
    ref_value g = bn_fused_dx(&norm, &of_norm, i, pixel * norm.in_channels[i] + k, bn_act_pool_gradient);
    g.value = dtype_round(p->dtype, g.value);
    return g;
}

ref_value REF(conv2d_pool_bn_bwd_apply)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return conv2d_dw(p, b, i, index, gradient);
}
