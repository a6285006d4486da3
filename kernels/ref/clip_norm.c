/*
 * clip_norm, one output. The equations are in src/ops/clip_norm.c; the sum is made in double in any case.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(clip_norm)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *g = b->plane[CLIP_NORM_G][i];
    double loss_scale = (double)*(const real *)b->plane[CLIP_NORM_LOSS_SCALE][i], sum = 0;
    for (int64_t j = 0; j < p->in_channels[0]; j++) sum += (double)g[j] * (double)g[j];
    double norm = sqrt(sum) / loss_scale, factor = p->limit > 0 ? fmin(1, p->limit / (norm + 1e-6)) : 1;
    double scale = factor / loss_scale;
    int finite = isfinite((real)norm) && isfinite((real)scale);
    int64_t step = *(const int64_t *)b->plane[CLIP_NORM_STEP][i];
    (void)index;
    switch (slot) {
        case CLIP_NORM_NORM: return (ref_value){(double)(real)norm, fabs(norm)};
        case CLIP_NORM_SCALE: return (ref_value){finite ? (double)(real)scale : (double)NAN, fabs(scale)};
        default: return (ref_value){(double)(step + finite), 0};
    }
}
