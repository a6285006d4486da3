/*
 * li_conv2d weight gradients, one element of dw_i, dbias_i, dv_i, dwz or dzbias. The equations are in
 * src/ops/li_conv2d.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/li_conv2d.h"

static ref_value given_dy(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t k) {
    const real *dy = b->plane[LI_CONV2D_DY][i];
    real value = dy[pixel * p->out_pitch[i] + k];
    return (ref_value){value, fabs(value)};
}

/* What multiplies dzy at one output pixel. */
static real factor(const braid_problem *p, const buffers *b, int slot, int i, int64_t pixel, int64_t channel) {
    const real *r = b->plane[LI_CONV2D_R][i], *z = b->plane[LI_CONV2D_Z][0];
    int64_t height = conv2d_out_size(p, 0), width = conv2d_out_size(p, 1);
    int64_t q = pixel % width, row = pixel / width % height, sample = pixel / width / height;
    if (slot == LI_CONV2D_ZBIAS) return 1;
    if (slot == LI_CONV2D_DV) return r[pixel * p->out_pitch[i] + channel];
    return z[((sample * p->size[0] + row * p->stride[0]) * p->size[1] + q * p->stride[1]) * p->integrated_in + channel];
}

static ref_value mix_gradient(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *dzy = b->plane[LI_CONV2D_ZY][0];
    int64_t columns = slot == LI_CONV2D_ZBIAS ? 1 : slot == LI_CONV2D_DV ? p->out_channels[i] : p->integrated_in;
    int64_t o = index / columns, channel = index % columns;
    int64_t pixels = conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    ref_value sum = {0, 0};
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (slot == LI_CONV2D_DV && mask_blanks(b->plane[LI_CONV2D_MASK][i], sample)) continue;
        for (int64_t pixel = sample * pixels; pixel < (sample + 1) * pixels; pixel++) {
            real product = dzy[pixel * p->integrated_out + o] * factor(p, b, slot, i, pixel, channel);
            sum.value = (real)(sum.value + product);
            sum.magnitude += fabs(product);
        }
    }
    return sum;
}

ref_value REF(li_conv2d_bwd_weight)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == LI_CONV2D_W) return conv2d_dw(p, b, i, index, li_conv2d_dr);
    if (slot == LI_CONV2D_BIAS) return conv2d_dbias(p, b, i, index, given_dy);
    return mix_gradient(p, b, slot, i, index);
}
