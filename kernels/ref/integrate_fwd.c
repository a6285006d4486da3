/*
 * integrate forward, one output element. The equation is in src/ops/integrate.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

/* Adds the product of two rows. */
static void add_dot(real *sum, real *magnitude, const real *a, const real *b, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        *sum += a[j] * b[j];
        *magnitude += (real)fabs(a[j] * b[j]);
    }
}

ref_value REF(integrate_fwd)(const braid_problem *p, const buffers *b, int slot, int plane, int64_t index) {
    (void)slot;
    (void)plane;
    const real *bias = b->plane[INTEGRATE_BIAS][0], *z = b->plane[INTEGRATE_Z][0], *w = b->plane[INTEGRATE_W][0];
    int64_t width = integrate_out_size(p, 1), height = integrate_out_size(p, 0);
    int64_t o = index % p->integrated_out, pixel = index / p->integrated_out;
    int64_t q = pixel % width, row = pixel / width % height, sample = pixel / width / height;
    real sum = bias ? bias[o] : 0, magnitude = (real)fabs(sum);
    if (p->integrated_in > 0) {
        int64_t from = (sample * p->size[0] + row * p->stride[0]) * p->size[1] + q * p->stride[1];
        add_dot(&sum, &magnitude, z + from * p->integrated_in, w + o * p->integrated_in, p->integrated_in);
    }
    for (int i = 0; i < p->streams; i++) {
        const real *r = b->plane[INTEGRATE_R][i], *v = b->plane[INTEGRATE_V][i];
        if (mask_blanks(b->plane[INTEGRATE_MASK][i], sample)) continue;
        add_dot(&sum, &magnitude, r + pixel * p->in_pitch[i], v + o * p->in_channels[i], p->in_channels[i]);
    }
    return (ref_value){sum, magnitude};
}
