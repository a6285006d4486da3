/*
 * bn_act_pool data gradient, one element. The equations are in src/ops/bn_act_pool.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_act_pool.h"

ref_value REF(bn_act_pool_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    return bn_fused_dx(p, b, i, index, bn_act_pool_gradient);
}
