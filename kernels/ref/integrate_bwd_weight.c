/*
 * integrate weight gradients, one element, summed over all output pixels: dv_i[o][c] of dy * r_i over the
 * active samples of stream i; dw[o][a] of dy * z; dbias[o] of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

/* The input that multiplies dy at one output pixel. */
static real factor(const braid_problem *p, const buffers *b, int slot, int i, int64_t pixel, int64_t channel) {
    int64_t width = integrate_out_size(p, 1), height = integrate_out_size(p, 0);
    int64_t q = pixel % width, row = pixel / width % height, sample = pixel / width / height;
    const real *r = b->plane[INTEGRATE_R][i], *z = b->plane[INTEGRATE_Z][0];
    if (slot == INTEGRATE_BIAS) return 1;
    if (slot == INTEGRATE_V) return r[pixel * p->in_pitch[i] + channel];
    return z[((sample * p->size[0] + row * p->stride[0]) * p->size[1] + q * p->stride[1]) * p->integrated_in + channel];
}

ref_value REF(integrate_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *dy = b->plane[INTEGRATE_Y][0];
    int64_t columns = slot == INTEGRATE_BIAS ? 1 : slot == INTEGRATE_V ? p->in_channels[i] : p->integrated_in;
    int64_t o = index / columns, channel = index % columns;
    int64_t pixels = integrate_out_size(p, 0) * integrate_out_size(p, 1);
    real sum = 0, magnitude = 0;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (slot == INTEGRATE_V && mask_blanks(b->plane[INTEGRATE_MASK][i], sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            real product = dy[pixel * p->integrated_out + o] * factor(p, b, slot, i, pixel, channel);
            sum += product;
            magnitude += (real)fabs(product);
        }
    }
    return (ref_value){sum, magnitude};
}
