/*
 * balance gradient, one element, from the norms of the forward pass. The equation is in src/ops/balance.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/balance.h"

ref_value REF(balance_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[BALANCE_X][i], *norms = b->plane[BALANCE_NORMS][0], *dloss = b->plane[BALANCE_LOSS][0];
    double own = balance_log(norms[i]), mean = 0;
    (void)slot;
    if (norms[i] == 0) return (ref_value){0, 0};
    for (int k = 0; k < p->streams; k++) mean += balance_log(norms[k]) / p->streams;
    double value = x[index / p->in_channels[i] * p->in_pitch[i] + index % p->in_channels[i]];
    double factor = 2.0 * *dloss / (p->streams - 1) / (norms[i] + BALANCE_EPS) / norms[i];
    return (ref_value){factor * (own - mean) * value, fabs(factor * value) * (fabs(own) + fabs(mean))};
}
