/*
 * Which element of x a pooling window takes: the rule that forward and gradient share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_MAXPOOL_H
#define BRAID_KERNELS_REF_MAXPOOL_H

#include <math.h>

#include "kernels/ref/ref.h"

/* The pixel (dense, over [B][H][W]) that output pixel [sample][row][column] takes in channel c of stream i;
 * -1 where a dilated window has all its places in the padding. */
static inline int64_t maxpool_taken(const braid_problem *p, const real *x, int i, int64_t c, int64_t sample,
                                    int64_t row, int64_t column) {
    int64_t taken = -1;
    real best = 0;
    for (int64_t r = 0; r < p->filter[0]; r++) {
        int64_t h = row * p->stride[0] - p->padding[0] + r * p->dilation[0];
        if (h < 0 || h >= p->size[0]) continue;
        for (int64_t s = 0; s < p->filter[1]; s++) {
            int64_t w = column * p->stride[1] - p->padding[1] + s * p->dilation[1];
            if (w < 0 || w >= p->size[1]) continue;
            int64_t pixel = (sample * p->size[0] + h) * p->size[1] + w;
            real value = x[pixel * p->in_pitch[i] + c];
            if (taken < 0 || value > best || isnan(value)) {
                taken = pixel;
                best = value;
            }
        }
    }
    return taken;
}

#endif
