/*
 * avgpool forward, one element: the mean of the window.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(avgpool_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[AVGPOOL_X][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t column = pixel % p->out_size[1], row = pixel / p->out_size[1] % p->out_size[0];
    int64_t sample = pixel / p->out_size[1] / p->out_size[0], top, bottom, left, right;
    real sum = 0, magnitude = 0;
    avgpool_window(p, 0, row, &top, &bottom);
    avgpool_window(p, 1, column, &left, &right);
    for (int64_t h = top; h < bottom; h++) {
        for (int64_t w = left; w < right; w++) {
            real value = x[((sample * p->size[0] + h) * p->size[1] + w) * p->in_pitch[i] + c];
            sum += value;
            magnitude += (real)fabs(value);
        }
    }
    real count = (real)((bottom - top) * (right - left));
    return (ref_value){sum / count, magnitude / count};
}
