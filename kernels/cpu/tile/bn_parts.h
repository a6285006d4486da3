/*
 * What the backward kernels of batch normalisation share, whatever slots their operands have: the results of the two
 * sums, and the coefficients of the input's gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_BN_PARTS_H
#define BRAID_KERNELS_CPU_TILE_BN_PARTS_H

#include "kernels/cpu/tile/points.h"

/* Both sums of every channel, over the chunks in their order: dbeta = first, dgamma = second * rstd. */
void bn_parts_sum(chunk_sums *s, int rstd, int dgamma, int dbeta);

/* Slots. */
typedef struct bn_parts_slots {
    int gamma, rstd, dgamma, dbeta, center, mask;
} bn_parts_slots;

/* Coefficients a to d of the gradient, in the workspace of chunks_create:
 * dx = slope * g + bend * (x - center) + offset when training; when evaluating dx = slope * g, and b is NULL. */
void bn_parts_coefficients(points *a, const braid_problem *p, const bn_parts_slots *slots);

#endif
