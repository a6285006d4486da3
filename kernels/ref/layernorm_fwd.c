/*
 * layernorm forward: y = (x - mean) * rstd * gamma + beta over the channels of a pixel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/layernorm.h"

ref_value REF(layernorm_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    const real *gamma = b->plane[LAYERNORM_GAMMA][i], *beta = b->plane[LAYERNORM_BETA][i];
    int64_t c = index % p->in_channels[i];
    layernorm_row row = layernorm_row_of(p, b, i, index / p->in_channels[i]);
    double product = layernorm_xhat(&row, c) * (double)gamma[c];
    return (ref_value){product + (double)beta[c], fabs(product) + fabs((double)beta[c])};
}
