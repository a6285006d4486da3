/*
 * The sums of a convolution and of its two gradients. Its input, or the gradient of its output, comes through a
 * function, so that fused ops can put their own before them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_CONV2D_H
#define BRAID_KERNELS_REF_CONV2D_H

#include <math.h>

#include "kernels/ref/ref.h"

/* Channel c of the input at one pixel (over [B][H][W]) of stream i. */
typedef ref_value (*conv2d_input)(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c);

/* Element `index` of y_i; bias: NULL where there is none. */
static inline ref_value conv2d_y(const braid_problem *p, const buffers *b, int i, int64_t index, const real *bias,
                                 conv2d_input input) {
    const real *w = b->plane[CONV2D_W][i];
    int64_t channels = p->in_channels[i] / p->groups;
    int64_t k = index % p->out_channels[i], pixel = index / p->out_channels[i];
    int64_t q = pixel % conv2d_out_size(p, 1), row = pixel / conv2d_out_size(p, 1);
    int64_t out_row = row % conv2d_out_size(p, 0), sample = row / conv2d_out_size(p, 0);
    int64_t first_channel = k / (p->out_channels[i] / p->groups) * channels;
    real sum = bias ? bias[k] : 0, magnitude = (real)fabs(sum);
    if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) return (ref_value){0, 0};
    for (int64_t r = 0; r < p->filter[0]; r++) {
        int64_t h = conv2d_in_index(p, 0, out_row, r);
        for (int64_t s = 0; s < p->filter[1] && h >= 0; s++) {
            int64_t v = conv2d_in_index(p, 1, q, s);
            const real *tap = w + ((k * p->filter[0] + r) * p->filter[1] + s) * channels;
            for (int64_t c = 0; c < channels && v >= 0; c++) {
                ref_value x = input(p, b, i, (sample * p->size[0] + h) * p->size[1] + v, first_channel + c);
                sum += (real)x.value * tap[c];
                magnitude += (real)(x.magnitude * fabs(tap[c]));
            }
        }
    }
    return (ref_value){sum, magnitude};
}

/* The gradient of output channel k at one output pixel (over [B][P][Q]) of stream i. */
typedef ref_value (*conv2d_gradient)(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t k);

/* What lies in the slot of y. */
static inline ref_value conv2d_given(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t k) {
    const real *dy = b->plane[CONV2D_Y][i];
    real value = dy[pixel * p->out_pitch[i] + k];
    return (ref_value){value, fabs(value)};
}

/* Adds the sum over the output channels [first, first + count) at one output pixel; tap is the first one's weight. */
static inline void conv2d_gather(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t first,
                                 int64_t count, const real *tap, int64_t tap_stride, conv2d_gradient gradient,
                                 ref_value *total) {
    for (int64_t k = 0; k < count; k++) {
        ref_value g = gradient(p, b, i, pixel, first + k);
        total->value = (real)(total->value + (real)g.value * tap[k * tap_stride]);
        total->magnitude += g.magnitude * fabs(tap[k * tap_stride]);
    }
}

/* Element `index` of dx_i: every output that read this input. Under a padding mode other than zeros an input can be
 * read several times by one output, so all pairs of output position and tap are asked. */
static inline ref_value conv2d_dx(const braid_problem *p, const buffers *b, int i, int64_t index,
                                  conv2d_gradient gradient) {
    const real *w = b->plane[CONV2D_W][i];
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t out_height = conv2d_out_size(p, 0), out_width = conv2d_out_size(p, 1);
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    int64_t column = pixel % p->size[1], row = pixel / p->size[1] % p->size[0],
            sample = pixel / p->size[1] / p->size[0];
    int64_t first_filter = c / channels * filters;
    int64_t filter_elements = p->filter[0] * p->filter[1] * channels;
    ref_value total = {0, 0};
    if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) return total;

    for (int64_t r = 0; r < p->filter[0]; r++) {
        for (int64_t out_row = 0; out_row < out_height; out_row++) {
            if (conv2d_in_index(p, 0, out_row, r) != row) continue;
            for (int64_t s = 0; s < p->filter[1]; s++) {
                for (int64_t q = 0; q < out_width; q++) {
                    if (conv2d_in_index(p, 1, q, s) != column) continue;
                    const real *tap =
                        w + first_filter * filter_elements + (r * p->filter[1] + s) * channels + c % channels;
                    conv2d_gather(p, b, i, (sample * out_height + out_row) * out_width + q, first_filter, filters, tap,
                                  filter_elements, gradient, &total);
                }
            }
        }
    }
    return total;
}

/* Element k of dbias_i, summed over the active samples. */
static inline ref_value conv2d_dbias(const braid_problem *p, const buffers *b, int i, int64_t k,
                                     conv2d_gradient gradient) {
    int64_t pixels = conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    ref_value sum = {0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            ref_value g = gradient(p, b, i, pixel, k);
            sum.value = (real)(sum.value + g.value);
            sum.magnitude += g.magnitude;
        }
    }
    return sum;
}

/* Element `index` of dw_i, summed over all output pixels of the active samples. */
static inline ref_value conv2d_dw(const braid_problem *p, const buffers *b, int i, int64_t index,
                                  conv2d_gradient gradient) {
    const real *x = b->plane[CONV2D_X][i];
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t out_height = conv2d_out_size(p, 0), out_width = conv2d_out_size(p, 1);
    int64_t c = index % channels, s = index / channels % p->filter[1];
    int64_t r = index / channels / p->filter[1] % p->filter[0], k = index / channels / p->filter[1] / p->filter[0];
    int64_t channel = k / filters * channels + c;
    ref_value sum = {0, 0};

    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (mask_blanks(b->plane[CONV2D_MASK][i], sample)) continue;
        for (int64_t out_row = 0; out_row < out_height; out_row++) {
            int64_t h = conv2d_in_index(p, 0, out_row, r);
            for (int64_t q = 0; q < out_width && h >= 0; q++) {
                int64_t v = conv2d_in_index(p, 1, q, s);
                if (v < 0) continue;
                ref_value g = gradient(p, b, i, (sample * out_height + out_row) * out_width + q, k);
                real value = x[((sample * p->size[0] + h) * p->size[1] + v) * p->in_pitch[i] + channel];
                sum.value = (real)(sum.value + (real)g.value * value);
                sum.magnitude += g.magnitude * fabs(value);
            }
        }
    }
    return sum;
}

#endif
