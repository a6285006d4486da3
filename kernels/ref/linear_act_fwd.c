/*
 * linear_act forward, one element of u = x * w^T + bias or of y = f(u).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/act.h"

ref_value REF(linear_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

ref_value REF(linear_act_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    ref_value u = REF(linear_fwd)(p, b, LINEAR_Y, i, index);
    return slot == LINEAR_ACT_U ? u : act_of(p, u);
}
