/*
 * Which place a window of bn_act_pool takes, and the gradient that comes back to a place.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_BN_ACT_POOL_H
#define BRAID_KERNELS_REF_BN_ACT_POOL_H

#include "kernels/ref/bn_fused.h"

/* The place that a window takes, as maxpool does: the first of equal values, a NaN before every number. */
typedef struct bn_taken {
    int64_t pixel; /* over [B][H][W]; -1: all its places lie in the padding */
    int contested; /* 1: another value is so near that rounding may prefer it */
    ref_value y;
} bn_taken;

static inline bn_taken bn_act_pool_taken(const braid_problem *p, const buffers *b, int i, int64_t c, int64_t sample,
                                         int64_t row, int64_t column) {
    bn_taken taken = {-1, 0, {0, 0}};
    for (int64_t r = 0; r < p->filter[0]; r++) {
        int64_t h = row * p->stride[0] - p->padding[0] + r * p->dilation[0];
        if (h < 0 || h >= p->size[0]) continue;
        for (int64_t s = 0; s < p->filter[1]; s++) {
            int64_t w = column * p->stride[1] - p->padding[1] + s * p->dilation[1];
            if (w < 0 || w >= p->size[1]) continue;
            int64_t pixel = (sample * p->size[0] + h) * p->size[1] + w;
            ref_value y = act_of(p, bn_fused_value(p, b, i, pixel, c));
            double gap = fabs(y.value - taken.y.value), near = BN_FUSED_NEAR * (y.magnitude + taken.y.magnitude);
            int better = taken.pixel < 0 || y.value > taken.y.value || isnan(y.value);
            int close = taken.pixel >= 0 && gap > 0 && gap < near;
            double magnitude = taken.pixel >= 0 && gap <= near ? fmax(y.magnitude, taken.y.magnitude) : y.magnitude;
            taken.contested = close || (taken.contested && !(better && gap > near));
            if (better) {
                taken.pixel = pixel;
                taken.y = y;
            }
            if (better || gap <= near) taken.y.magnitude = magnitude;
        }
    }
    return taken;
}

/* dy of the windows that took the place, times f' there. */
static inline ref_value bn_act_pool_gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel,
                                             int64_t c) {
    const real *dy = b->plane[BN_FUSED_DY][i];
    int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    int64_t w = pixel % p->size[1], h = pixel / p->size[1] % p->size[0], sample = pixel / p->size[1] / p->size[0];
    ref_value sum = {0, 0}, own = act_of(p, bn_fused_value(p, b, i, pixel, c));
    for (int64_t r = p->filter[0] - 1; r >= 0; r--) {
        int64_t from_row = h + p->padding[0] - r * p->dilation[0], row = from_row / p->stride[0];
        if (from_row < 0 || from_row % p->stride[0] || row >= height) continue;
        for (int64_t s = p->filter[1] - 1; s >= 0; s--) {
            int64_t from_column = w + p->padding[1] - s * p->dilation[1], column = from_column / p->stride[1];
            if (from_column < 0 || from_column % p->stride[1] || column >= width) continue;
            bn_taken taken = bn_act_pool_taken(p, b, i, c, sample, row, column);
            real gradient = dy[((sample * height + row) * width + column) * p->in_pitch[i] + c];
            double gap = fabs(own.value - taken.y.value), near = BN_FUSED_NEAR * (own.magnitude + taken.y.magnitude);
            int contested = taken.contested && (taken.pixel == pixel || gap <= near);
            if (taken.pixel == pixel) sum.value = (real)(sum.value + gradient);
            if (taken.pixel == pixel || contested) sum.magnitude += fabs(gradient) * (contested ? BN_FUSED_EITHER : 1);
        }
    }
    return bn_fused_slope(p, bn_fused_value(p, b, i, pixel, c), sum);
}

#endif
