/*
 * sgd, all parameters in one pass. The equations are in src/ops/sgd.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/update/parameters.h"
#include "kernels/cpu/isa/tile_kernels.h"

static void make_rule(const braid_problem *p, const update_group *g, update_rule *r) {
    r->decay = (float)g->decay;
    r->momentum = (float)p->momentum;
    r->rate = (float)-g->rate;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    update_kind kind = p->nesterov ? UPDATE_SGD_NESTEROV : p->momentum > 0 ? UPDATE_SGD_MOMENTUM : UPDATE_SGD;
    parameters_update(p, state, b, kind, make_rule);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, sgd, cpu_direct, updates, supports_all, parameters_cost, parameters_create, launch,
             parameters_destroy)
