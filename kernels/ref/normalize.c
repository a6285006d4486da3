/*
 * normalize, one element: y = (x / 255 - mean) / std.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(normalize)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const uint8_t *x = b->plane[NORMALIZE_X][i];
    const real *mean = b->plane[NORMALIZE_MEAN][i], *std = b->plane[NORMALIZE_STD][i];
    int64_t c = index % p->in_channels[i];
    real share = (real)x[index] / 255;
    return (ref_value){(share - mean[c]) / std[c], fabs(share / std[c]) + fabs(mean[c] / std[c])};
}
