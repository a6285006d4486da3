/*
 * avgpool gradient, one element: the shares of dy of all windows that this input is in.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(avgpool_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *dy = b->plane[AVGPOOL_Y][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t w = pixel % p->size[1], h = pixel / p->size[1] % p->size[0], sample = pixel / p->size[1] / p->size[0];
    real sum = 0, magnitude = 0;
    for (int64_t row = 0; row < p->out_size[0]; row++) {
        int64_t top, bottom, left, right;
        avgpool_window(p, 0, row, &top, &bottom);
        for (int64_t column = 0; h >= top && h < bottom && column < p->out_size[1]; column++) {
            avgpool_window(p, 1, column, &left, &right);
            if (w < left || w >= right) continue;
            int64_t out = (sample * p->out_size[0] + row) * p->out_size[1] + column;
            real share = dy[out * p->in_pitch[i] + c] / (real)((bottom - top) * (right - left));
            sum += share;
            magnitude += (real)fabs(share);
        }
    }
    return (ref_value){sum, magnitude};
}
