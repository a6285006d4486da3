/*
 * The step that adam and adamw share, once their weight decay has gone into g or into w.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_ADAM_H
#define BRAID_KERNELS_REF_ADAM_H

#include "kernels/ref/update.h"

/* w and g after the decay; g is rounded from terms of the size g_size. */
static inline update_result adam_step(const braid_problem *p, const update_element *e, real w, real g, double g_size) {
    double share = 1 - p->beta_mean, rate = e->rate / (1 - pow(p->beta_mean, (double)e->step));
    real m = e->m + (real)share * (g - e->m);
    double m_size = fabs((double)e->m) + share * (g_size + fabs((double)e->m));
    ref_value v = update_square(e, p->beta_square, 1 - p->beta_square, g, g_size);
    real divisor = (real)sqrt(v.value) / (real)sqrt(1 - pow(p->beta_square, (double)e->step)) + (real)p->eps;
    double size = rate * m_size / (double)divisor * update_doubt(v);
    return (update_result){.w = update_weight(w, (real)-rate * m / divisor, size), .m = {(double)m, m_size}, .v = v};
}

#endif
