/*
 * What the backward kernels of batch normalisation share, whatever slots their operands have: the results of the two
 * sums, and the coefficients of the input's gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_NORM_BN_BWD_H
#define BRAID_KERNELS_CPU_NORM_BN_BWD_H

#include "kernels/cpu/tile/pointwise.h"

/* Both sums of every channel, over the chunks in their order: dbeta = first, dgamma = second * rstd. */
void bn_bwd_sum(chunk_sums *s, int rstd, int dgamma, int dbeta);

/* Slots. */
typedef struct bn_bwd_slots {
    int gamma, rstd, dgamma, dbeta, center, mask;
} bn_bwd_slots;

/* Coefficients a to d of the gradient, in the workspace of chunks_create:
 * dx = slope * g + bend * (x - center) + offset when training; when evaluating dx = slope * g, and b is NULL. */
void bn_bwd_coefficients(pointwise *a, const braid_problem *p, const bn_bwd_slots *slots);

#endif
