/*
 * clip_norm in one pass over all gradients. The equations are in src/ops/clip_norm.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/tile/parameters.h"
#include "kernels/cpu/tile/isa.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    double loss_scale = (double)*(const float *)b->plane[CLIP_NORM_LOSS_SCALE][0];
    double norm = sqrt(parameters_squares(state, b, b->plane[CLIP_NORM_G][0])) / loss_scale;
    double factor = p->limit > 0 ? fmin(1, p->limit / (norm + 1e-6)) : 1;
    float scale = (float)(factor / loss_scale);
    int finite = isfinite((float)norm) && isfinite(scale);
    (void)d;
    *(float *)b->plane[CLIP_NORM_NORM][0] = (float)norm;
    *(float *)b->plane[CLIP_NORM_SCALE][0] = finite ? scale : NAN;
    *(int64_t *)b->plane[CLIP_NORM_STEP][0] += finite;
    return BRAID_OK;
}

TILE_KERNEL(clip_norm__cpu_arena_avx512, updates_avx512, supports_all, parameters_cost, parameters_create_sums, launch,
            parameters_destroy)
TILE_KERNEL(clip_norm__cpu_arena_avx2, updates_avx2, supports_all, parameters_cost, parameters_create_sums, launch,
            parameters_destroy)
TILE_KERNEL(clip_norm__cpu_arena_portable, updates_portable, supports_all, parameters_cost, parameters_create_sums,
            launch, parameters_destroy)
