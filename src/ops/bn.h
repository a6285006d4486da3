/*
 * What the five natural ops of batch normalisation share. A training step of one layer is
 *   bn_stats -> bn_finalize -> bn_apply,  and backwards  bn_sums -> bn_dapply;
 * evaluation is bn_finalize (from the running statistics) -> bn_apply.
 * Statistics are taken over the active samples of each stream on its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_BN_H
#define BRAID_OPS_BN_H

#include "ops/op.h"
#include "ops/shapes.h"

#define BN_PIXEL_FIELDS (FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(mask) | FIELD_BIT(cp))

/* Shapes of the operands: activations and per-channel vectors. */
void bn_shape_pixels(const braid_problem *p, int i, plane_shape *out);
void bn_shape_channels(const braid_problem *p, int i, plane_shape *out);

int64_t bn_terms(const braid_problem *p); /* values behind one channel's statistics */
void bn_draw(rng *r, braid_problem *p);

/* Refuses counts of values that do not fit in 64 bits, and training on a single value per channel, whose unbiased
 * variance does not exist. */
braid_status bn_check_train(const braid_problem *p);

#endif
