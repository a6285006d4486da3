/*
 * clip_norm, one output. The equations are in src/ops/clip_norm.c; the sum is made in double in any case.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"
#include "ops/scaling.h"

/* The factor of the next loss, the table that goes with it in `table`. */
static double next_scale(const buffers *b, int i, int fine, int64_t table[SCALING_COUNT]) {
    double loss = (double)*(const real *)b->plane[CLIP_NORM_LOSS][i];
    for (int j = 0; j < SCALING_COUNT; j++) table[j] = ((const int64_t *)b->plane[CLIP_NORM_SCALING][i])[j];
    return scaling_next((double)*(const real *)b->plane[CLIP_NORM_LOSS_SCALE][i], fine, isfinite(loss), table);
}

ref_value REF(clip_norm)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *g = b->plane[CLIP_NORM_G][i], *h = b->plane[CLIP_NORM_H][i];
    if (slot == CLIP_NORM_Y) return (ref_value){(double)h[index], fabs((double)h[index])};
    double batches = (double)((const int64_t *)b->plane[CLIP_NORM_SCALING][i])[SCALING_BATCHES];
    double divisor = (double)*(const real *)b->plane[CLIP_NORM_LOSS_SCALE][i] * batches, sum = 0;
    for (int64_t j = 0; j < p->in_channels[0] - p->integrated_in; j++) sum += (double)g[j] * (double)g[j];
    for (int64_t j = 0; j < p->integrated_in; j++) sum += (double)h[j] * (double)h[j];
    double norm = sqrt(sum) / divisor, factor = p->limit > 0 ? fmin(1, p->limit / (norm + 1e-6)) : 1;
    double scale = factor / divisor;
    int finite = isfinite((real)norm) && isfinite((real)scale) && isfinite(*(const real *)b->plane[CLIP_NORM_LOSS][i]);
    int64_t table[SCALING_COUNT];
    double next = next_scale(b, i, finite, table);
    int64_t step = *(const int64_t *)b->plane[CLIP_NORM_STEP][i];
    switch (slot) {
        case CLIP_NORM_NORM: return (ref_value){(double)(real)norm, fabs(norm)};
        case CLIP_NORM_SCALE: return (ref_value){finite ? (double)(real)scale : (double)NAN, fabs(scale)};
        case CLIP_NORM_LOSS_SCALE: return (ref_value){next, fabs(next)};
        case CLIP_NORM_SCALING: return (ref_value){(double)table[index], 0};
        default: return (ref_value){(double)(step + finite), 0};
    }
}
