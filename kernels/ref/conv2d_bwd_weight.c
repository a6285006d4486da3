/*
 * conv2d weight gradient, one element: dw[k][r][s][c] sums x * dy over all output pixels of all active
 * samples; dbias[k] sums dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

static ref_value bias_gradient(const braid_problem *p, const buffers *b, int i, int64_t k) {
    const real *dy = b->plane[CONV2D_Y][i];
    int64_t pixels = conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    real sum = 0, magnitude = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            sum += dy[pixel * p->out_pitch[i] + k];
            magnitude += (real)fabs(dy[pixel * p->out_pitch[i] + k]);
        }
    }
    return (ref_value){sum, magnitude};
}

ref_value REF(conv2d_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[CONV2D_X][i], *dy = b->plane[CONV2D_Y][i];
    if (slot == CONV2D_BIAS) return bias_gradient(p, b, i, index);
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t out_height = conv2d_out_size(p, 0), out_width = conv2d_out_size(p, 1);
    int64_t c = index % channels, s = index / channels % p->filter[1];
    int64_t r = index / channels / p->filter[1] % p->filter[0], k = index / channels / p->filter[1] / p->filter[0];
    int64_t channel = k / filters * channels + c;
    real sum = 0, magnitude = 0;

    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        for (int64_t out_row = 0; out_row < out_height; out_row++) {
            int64_t h = conv2d_in_index(p, 0, out_row, r);
            for (int64_t q = 0; q < out_width && h >= 0; q++) {
                int64_t v = conv2d_in_index(p, 1, q, s);
                if (v < 0) continue;
                real product = x[((sample * p->size[0] + h) * p->size[1] + v) * p->in_pitch[i] + channel] *
                               dy[((sample * out_height + out_row) * out_width + q) * p->out_pitch[i] + k];
                sum += product;
                magnitude += (real)fabs(product);
            }
        }
    }
    return (ref_value){sum, magnitude};
}
