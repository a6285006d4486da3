/*
 * li_conv2d forward, one element of r, y or zy. The equations are in src/ops/li_conv2d.c; the mix reads r as it is
 * stored, in the dtype of the problem.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/dtype.h"
#include "kernels/ref/ref.h"

ref_value REF(conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

/* The raw output of stream i: the convolution without its bias. */
static ref_value raw(const braid_problem *p, const buffers *b, int i, int64_t index) {
    buffers unbiased = {0};
    unbiased.plane[CONV2D_X][i] = b->plane[LI_CONV2D_X][i];
    unbiased.plane[CONV2D_W][i] = b->plane[LI_CONV2D_W][i];
    unbiased.plane[CONV2D_MASK][i] = b->plane[LI_CONV2D_MASK][i];
    return REF(conv2d_fwd)(p, &unbiased, CONV2D_Y, i, index);
}

static void add(ref_value *sum, double value, double magnitude) {
    sum->value = (real)(sum->value + value);
    sum->magnitude += magnitude;
}

static ref_value mixed(const braid_problem *p, const buffers *b, int64_t index) {
    const real *bias = b->plane[LI_CONV2D_ZBIAS][0], *z = b->plane[LI_CONV2D_Z][0], *wz = b->plane[LI_CONV2D_WZ][0];
    int64_t height = conv2d_out_size(p, 0), width = conv2d_out_size(p, 1);
    int64_t o = index % p->integrated_out, pixel = index / p->integrated_out;
    int64_t q = pixel % width, row = pixel / width % height, sample = pixel / width / height;
    ref_value sum = {0, 0};
    if (bias) add(&sum, bias[o], fabs(bias[o]));
    for (int64_t a = 0; a < p->integrated_in; a++) {
        int64_t from = (sample * p->size[0] + row * p->stride[0]) * p->size[1] + q * p->stride[1];
        real product = z[from * p->integrated_in + a] * wz[o * p->integrated_in + a];
        add(&sum, product, fabs(product));
    }
    for (int i = 0; i < p->streams; i++) {
        const real *v = b->plane[LI_CONV2D_V][i];
        if (mask_blanks(b->plane[LI_CONV2D_MASK][i], sample)) continue;
        for (int64_t k = 0; k < p->out_channels[i]; k++) {
            ref_value r = raw(p, b, i, pixel * p->out_channels[i] + k);
            real weight = v[o * p->out_channels[i] + k];
            add(&sum, (real)dtype_round(p->dtype, r.value) * weight, r.magnitude * fabs(weight));
        }
    }
    return sum;
}

ref_value REF(li_conv2d_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot == LI_CONV2D_ZY) return mixed(p, b, index);
    return slot == LI_CONV2D_R ? raw(p, b, i, index) : REF(conv2d_fwd)(p, b, slot, i, index);
}
