/*
 * conv2d_dsums, one element of dx, or one channel of the sums over it. The latter read dx from its slot, as it is
 * stored. The equations are in src/ops/conv2d_dsums.c.
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
    const braid_problem conv = conv2d_dsums_conv(p);
    buffers of = {0};
    bind(&of, CONV2D_W, b, CONV2D_DSUMS_W);
    bind(&of, CONV2D_MASK, b, CONV2D_DSUMS_MASK);
    bind(&of, CONV2D_Y, b, CONV2D_DSUMS_DY);
    bind(&of, CONV2D_A, b, CONV2D_DSUMS_A);
    return REF(conv2d_bwd_data)(&conv, &of, CONV2D_X, i, index);
}

ref_value REF(conv2d_dsums)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == CONV2D_DSUMS_DX) return dx(p, b, i, index);
    const int sum = slot == CONV2D_DSUMS_DBETA ? BN_FUSED_DBETA : BN_FUSED_DGAMMA;
    const braid_problem norm = conv2d_dsums_norm(p);
    buffers of = {0};
    bind(&of, BN_FUSED_X, b, CONV2D_DSUMS_R);
    bind(&of, BN_FUSED_Y, b, CONV2D_DSUMS_X);
    bind(&of, BN_FUSED_DY, b, CONV2D_DSUMS_DX);
    bind(&of, BN_FUSED_SCALE, b, CONV2D_DSUMS_SCALE);
    bind(&of, BN_FUSED_SHIFT, b, CONV2D_DSUMS_SHIFT);
    bind(&of, BN_FUSED_CENTER, b, CONV2D_DSUMS_CENTER);
    bind(&of, BN_FUSED_RSTD, b, CONV2D_DSUMS_RSTD);
    bind(&of, BN_FUSED_MASK, b, CONV2D_DSUMS_MASK);
    if (p->add & CONV2D_DSUMS_ADD_Z) return REF(bn_add_act_bwd_weight)(&norm, &of, sum, i, index);
    return REF(bn_act_bwd_weight)(&norm, &of, sum, i, index);
}
