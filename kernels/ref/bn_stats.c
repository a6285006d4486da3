/*
 * bn_stats, one channel: the mean, then the mean of the squared distances from it (two passes, so a
 * large mean costs no digits). The magnitude of var counts what rounding the mean does to each term.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

/* The mean of x - center (power 1) or of its square (power 2) over the active pixels. */
static ref_value average(const braid_problem *p, const buffers *b, int i, int64_t c, int power, real center) {
    const real *x = b->plane[BN_STATS_X][i];
    const uint32_t *mask = b->plane[BN_STATS_MASK][i];
    int64_t pixels = p->size[0] * p->size[1], count = mask_active(mask, p->batch) * pixels;
    real sum = 0, magnitude = 0;
    if (count == 0) return (ref_value){0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(mask, sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            real value = x[pixel * p->in_pitch[i] + c], distance = value - center;
            sum += power == 1 ? distance : distance * distance;
            magnitude += (real)(power == 1 ? fabs(distance) : fabs(distance) * (fabs(distance) + fabs(value)));
        }
    }
    return (ref_value){sum / (real)count, magnitude / (real)count};
}

ref_value REF(bn_stats)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    ref_value mean = average(p, b, i, index, 1, 0);
    return slot == BN_STATS_MEAN ? mean : average(p, b, i, index, 2, (real)mean.value);
}
