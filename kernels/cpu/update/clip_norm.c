/*
 * clip_norm in one pass over all gradients, and one before over those in half precision. The equations are in
 * src/ops/clip_norm.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cpu/update/parameters.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "ops/scaling.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    float *loss_scale = b->plane[CLIP_NORM_LOSS_SCALE][0];
    int64_t *scaling = b->plane[CLIP_NORM_SCALING][0];
    double divisor = (double)*loss_scale * (double)scaling[SCALING_BATCHES];
    const int64_t cast = p->integrated_in;
    double squares = parameters_squares(state, b, b->plane[CLIP_NORM_G][0], p->in_channels[0] - cast);
    if (cast > 0) {
        float *y = b->plane[CLIP_NORM_Y][0];
        parameters_cast(state, p->dtype, y, b->plane[CLIP_NORM_H][0], cast);
        squares += parameters_squares(state, b, y, cast);
    }
    double norm = sqrt(squares) / divisor;
    double factor = p->limit > 0 ? fmin(1, p->limit / (norm + 1e-6)) : 1;
    float scale = (float)(factor / divisor);
    int loss_is_finite = isfinite(*(const float *)b->plane[CLIP_NORM_LOSS][0]);
    int finite = isfinite((float)norm) && isfinite(scale) && loss_is_finite;
    (void)d;
    *(float *)b->plane[CLIP_NORM_NORM][0] = (float)norm;
    *(float *)b->plane[CLIP_NORM_SCALE][0] = finite ? scale : NAN;
    *(int64_t *)b->plane[CLIP_NORM_STEP][0] += finite;
    *loss_scale = (float)scaling_next((double)*loss_scale, finite, loss_is_finite, scaling);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, clip_norm, cpu_direct, updates, supports, parameters_cost, parameters_create_sums, launch,
             parameters_destroy)
