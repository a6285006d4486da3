/*
 * maxpool gradient, one element: the sum of dy over the windows that took this input.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/maxpool.h"

ref_value REF(maxpool_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[MAXPOOL_X][i], *dy = b->plane[MAXPOOL_Y][i];
    int64_t height = maxpool_out_size(p, 0), width = maxpool_out_size(p, 1);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t w = pixel % p->size[1], h = pixel / p->size[1] % p->size[0], sample = pixel / p->size[1] / p->size[0];
    real sum = 0, magnitude = 0;
    for (int64_t r = p->filter[0] - 1; r >= 0; r--) {
        int64_t from_row = h + p->padding[0] - r * p->dilation[0], row = from_row / p->stride[0];
        if (from_row < 0 || from_row % p->stride[0] || row >= height) continue;
        for (int64_t s = p->filter[1] - 1; s >= 0; s--) {
            int64_t from_column = w + p->padding[1] - s * p->dilation[1], column = from_column / p->stride[1];
            if (from_column < 0 || from_column % p->stride[1] || column >= width) continue;
            if (maxpool_taken(p, x, i, c, sample, row, column) != pixel) continue;
            real gradient = dy[((sample * height + row) * width + column) * p->in_pitch[i] + c];
            sum += gradient;
            magnitude += (real)fabs(gradient);
        }
    }
    return (ref_value){sum, magnitude};
}
