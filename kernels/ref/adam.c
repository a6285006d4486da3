/*
 * adam, one element of one output. The equations are in src/ops/adam.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/adam.h"

ref_value REF(adam)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    update_element e = update_read(p, b, index);
    real decayed = (real)e.decay * e.w;
    update_result r =
        e.live ? adam_step(p, &e, e.w, e.g + decayed, fabs((double)e.g) + fabs((double)decayed)) : update_none(&e);
    (void)i;
    return update_pick(&r, slot);
}
