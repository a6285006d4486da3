/*
 * rmsprop, one element of one output. The equations are in src/ops/rmsprop.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/update.h"

static update_result step(const braid_problem *p, const update_element *e) {
    real decay = (real)e->decay, momentum = (real)p->momentum, rate = (real)-e->rate;
    real g = e->g + decay * e->w;
    double size = fabs((double)e->g) + fabs((double)(decay * e->w));
    ref_value v = update_square(e, p->alpha, 1 - p->alpha, g, size);
    real divisor = (real)sqrt(v.value) + (real)p->eps;
    double share = size / (double)divisor * update_doubt(v);
    if (!(p->momentum > 0))
        return (update_result){.w = update_weight(e->w, rate * g / divisor, e->rate * share), .v = v};
    real m = momentum * e->m + g / divisor;
    double m_size = fabs((double)(momentum * e->m)) + share;
    return (update_result){.w = update_weight(e->w, rate * m, e->rate * m_size), .m = {(double)m, m_size}, .v = v};
}

ref_value REF(rmsprop)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    update_element e = update_read(p, b, index);
    update_result r = e.live ? step(p, &e) : update_none(&e);
    (void)i;
    return update_pick(&r, slot);
}
