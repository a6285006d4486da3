/*
 * rmsprop, all parameters in one pass. The equations are in src/ops/rmsprop.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/update/parameters.h"
#include "kernels/cpu/isa/tile_kernels.h"

static void make_rule(const braid_problem *p, const update_group *g, update_rule *r) {
    r->decay = (float)g->decay;
    r->square_keep = (float)p->alpha;
    r->square_share = (float)(1 - p->alpha);
    r->eps = (float)p->eps;
    r->momentum = (float)p->momentum;
    r->rate = (float)-g->rate;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    parameters_update(p, state, b, p->momentum > 0 ? UPDATE_RMSPROP_MOMENTUM : UPDATE_RMSPROP, make_rule);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, rmsprop, cpu_direct, updates, supports_all, parameters_cost, parameters_create, launch,
             parameters_destroy)
