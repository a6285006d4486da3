/*
 * bn_sums, one channel: dbeta = sum dy, dgamma = sum dy * (x - center) * rstd over the active pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(bn_sums)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[BN_SUMS_X][i], *dy = b->plane[BN_SUMS_DY][i];
    const real *center = b->plane[BN_SUMS_CENTER][i], *rstd = b->plane[BN_SUMS_RSTD][i];
    int64_t pixels = p->size[0] * p->size[1];
    real sum = 0, magnitude = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[BN_SUMS_MASK][i], sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            real gradient = dy[pixel * p->in_pitch[i] + index], value = x[pixel * p->in_pitch[i] + index];
            real weight = slot == BN_SUMS_DBETA ? 1 : (value - center[index]) * rstd[index];
            real spread = slot == BN_SUMS_DBETA ? 1 : (real)((fabs(value) + fabs(center[index])) * rstd[index]);
            sum += gradient * weight;
            magnitude += (real)fabs(gradient) * spread;
        }
    }
    return (ref_value){sum, magnitude};
}
