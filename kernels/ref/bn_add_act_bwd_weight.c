/*
 * bn_add_act weight gradients, one channel. The equations are in src/ops/bn_add_act.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_add_act.h"

ref_value REF(bn_add_act_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    return bn_fused_sum(p, b, slot, i, index, bn_add_act_gradient);
}
