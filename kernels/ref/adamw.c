/*
 * adamw, one element of one output. The equations are in src/ops/adamw.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/adam.h"

ref_value REF(adamw)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    update_element e = update_read(p, b, index);
    real w = e.w * (real)(1 - e.rate * e.decay);
    update_result r = e.live ? adam_step(p, &e, w, e.g, fabs((double)e.g)) : update_none(&e);
    (void)i;
    return update_pick(&r, slot);
}
