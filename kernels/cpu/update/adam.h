/*
 * The factors that adam and adamw share: memories and bias corrections.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_UPDATE_ADAM_H
#define BRAID_KERNELS_CPU_UPDATE_ADAM_H

#include <math.h>

#include "kernels/cpu/update/parameters.h"

static inline void adam_moments(const braid_problem *p, const update_group *g, update_rule *r) {
    r->mean_share = (float)(1 - p->beta_mean);
    r->square_keep = (float)p->beta_square;
    r->square_share = (float)(1 - p->beta_square);
    r->root = (float)sqrt(1 - pow(p->beta_square, (double)g->step));
    r->rate = (float)-(g->rate / (1 - pow(p->beta_mean, (double)g->step)));
    r->eps = (float)p->eps;
}

#endif
