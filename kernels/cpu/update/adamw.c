/*
 * adamw, all parameters in one pass. The equations are in src/ops/adamw.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/update/adam.h"
#include "kernels/cpu/isa/tile_kernels.h"

static void make_rule(const braid_problem *p, const update_group *g, update_rule *r) {
    adam_moments(p, g, r);
    r->keep = (float)(1 - g->rate * g->decay);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    parameters_update(p, state, b, UPDATE_ADAMW, make_rule);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, adamw, cpu_direct, updates, supports_all, parameters_cost, parameters_create, launch,
             parameters_destroy)
