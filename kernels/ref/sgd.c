/*
 * sgd, one element of one output. The equations are in src/ops/sgd.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/update.h"

static update_result step(const braid_problem *p, const update_element *e) {
    real decay = (real)e->decay, momentum = (real)p->momentum, rate = (real)-e->rate;
    real g = e->g + decay * e->w, m = 0;
    double size = fabs((double)e->g) + fabs((double)(decay * e->w)), m_size = 0;
    if (p->momentum > 0) {
        m = momentum * e->m + g;
        m_size = fabs((double)(momentum * e->m)) + size;
        g = p->nesterov ? g + momentum * m : m;
        size = p->nesterov ? size + p->momentum * m_size : m_size;
    }
    return (update_result){.w = update_weight(e->w, rate * g, e->rate * size), .m = {(double)m, m_size}};
}

ref_value REF(sgd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    update_element e = update_read(p, b, index);
    update_result r = e.live ? step(p, &e) : update_none(&e);
    (void)i;
    return update_pick(&r, slot);
}
