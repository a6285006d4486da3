/*
 * bn_dapply, one element of dx. The equations are in src/ops/bn_dapply.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

ref_value REF(bn_dapply)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *x = b->plane[BN_DAPPLY_X][i], *dy = b->plane[BN_DAPPLY_DY][i];
    const real *center = b->plane[BN_DAPPLY_CENTER][i], *rstd = b->plane[BN_DAPPLY_RSTD][i];
    const real *gamma = b->plane[BN_DAPPLY_GAMMA][i];
    const real *dgamma = b->plane[BN_DAPPLY_DGAMMA][i], *dbeta = b->plane[BN_DAPPLY_DBETA][i];
    const uint32_t *mask = b->plane[BN_DAPPLY_MASK][i];
    int64_t pixels = p->size[0] * p->size[1];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    if (mask_blanks(mask, pixel / pixels)) return (ref_value){0, 0};

    real scale = gamma[c] * rstd[c], gradient = dy[pixel * p->in_pitch[i] + c];
    if (p->phase == BRAID_PHASE_EVAL) return (ref_value){scale * gradient, fabs(scale * gradient)};
    real count = (real)(mask_active(mask, p->batch) * pixels);
    real value = x[pixel * p->in_pitch[i] + c];
    real mean_term = dbeta[c] / count, spread_term = (value - center[c]) * rstd[c] * dgamma[c] / count;
    real spread = (real)((fabs(value) + fabs(center[c])) * fabs(rstd[c] * dgamma[c]) / count);
    return (ref_value){scale * (gradient - mean_term - spread_term),
                       fabs(scale) * (fabs(gradient) + fabs(mean_term) + spread)};
}
