/*
 * bn_bwd_apply, one element of dx. The equations are in src/ops/bn_bwd_apply.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

ref_value REF(bn_bwd_apply)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const bn_view v = {b->plane[BN_BWD_APPLY_X][i], b->plane[BN_BWD_APPLY_CENTER][i], b->plane[BN_BWD_APPLY_RSTD][i],
                       b->plane[BN_BWD_APPLY_MASK][i]};
    const real *dy = b->plane[BN_BWD_APPLY_DY][i], *gamma = b->plane[BN_BWD_APPLY_GAMMA][i];
    const real *dgamma = b->plane[BN_BWD_APPLY_DGAMMA][i], *dbeta = b->plane[BN_BWD_APPLY_DBETA][i];
    int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
    real gradient = dy[pixel * p->in_pitch[i] + c];
    return bn_input_gradient(p, &v, i, pixel, c, gamma[c], (ref_value){gradient, fabs(gradient)},
                             (ref_value){dgamma[c], fabs(dgamma[c])}, (ref_value){dbeta[c], fabs(dbeta[c])});
}
