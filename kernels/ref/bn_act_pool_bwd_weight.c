/*
 * bn_act_pool weight gradients, one channel. The equations are in src/ops/bn_act_pool.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_act_pool.h"

ref_value REF(bn_act_pool_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    return bn_fused_sum(p, b, slot, i, index, bn_act_pool_gradient);
}
