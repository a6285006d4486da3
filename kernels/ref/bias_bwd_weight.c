/*
 * The gradient of bias, one channel: dbias = sum of dy over the pixels of the active samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(bias_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *dy = b->plane[BIAS_Y][i];
    int64_t pixels = p->size[0] * p->size[1];
    ref_value sum = {0, 0};
    for (int64_t pixel = 0; pixel < p->batch * pixels; pixel++) {
        real value = dy[pixel * p->in_pitch[i] + index];
        if (mask_blanks(b->plane[BIAS_MASK][i], pixel / pixels)) continue;
        sum.value = (real)(sum.value + value);
        sum.magnitude += fabs(value);
    }
    return sum;
}
