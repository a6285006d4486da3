/*
 * conv2d forward, one output element: y[b][p][q][k]. The equation is in src/ops/conv2d.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[CONV2D_X][i], *w = b->plane[CONV2D_W][i], *bias = b->plane[CONV2D_BIAS][i];
    int64_t channels = p->in_channels[i] / p->groups;
    int64_t k = index % p->out_channels[i], pixel = index / p->out_channels[i];
    int64_t q = pixel % conv2d_out_size(p, 1), row = pixel / conv2d_out_size(p, 1);
    int64_t out_row = row % conv2d_out_size(p, 0), sample = row / conv2d_out_size(p, 0);
    int64_t first_channel = k / (p->out_channels[i] / p->groups) * channels;
    if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) return (ref_value){0, 0};

    real sum = bias ? bias[k] : 0, magnitude = (real)fabs(sum);
    for (int64_t r = 0; r < p->filter[0]; r++) {
        int64_t h = conv2d_in_index(p, 0, out_row, r);
        for (int64_t s = 0; s < p->filter[1] && h >= 0; s++) {
            int64_t v = conv2d_in_index(p, 1, q, s);
            if (v < 0) continue;
            const real *from = x + ((sample * p->size[0] + h) * p->size[1] + v) * p->in_pitch[i] + first_channel;
            const real *tap = w + ((k * p->filter[0] + r) * p->filter[1] + s) * channels;
            for (int64_t c = 0; c < channels; c++) {
                sum += from[c] * tap[c];
                magnitude += (real)fabs(from[c] * tap[c]);
            }
        }
    }
    return (ref_value){sum, magnitude};
}
