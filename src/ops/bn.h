/*
 * What the five natural ops of batch normalisation share. A training step of one layer is
 *   bn_stats -> bn_finalize -> bn_apply,  and backwards  bn_bwd_reduce -> bn_bwd_apply;
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

/* The rows of op_info.operands of bn_act and bn_act_pool. */
#define BN_FUSED_OPERANDS                                                        \
    [BN_FUSED_X] = {"x", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},              \
    [BN_FUSED_SCALE] = {"scale", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},      \
    [BN_FUSED_SHIFT] = {"shift", FILL_SIGNED, {ROLE_IN, ROLE_IN, ROLE_IN}},      \
    [BN_FUSED_MASK] = {"mask", FILL_MASK, {ROLE_IN, ROLE_IN, ROLE_IN}},          \
    [BN_FUSED_Y] = {"y", FILL_SIGNED, {ROLE_OUT, ROLE_NONE, ROLE_NONE}},         \
    [BN_FUSED_DY] = {"dy", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},          \
    [BN_FUSED_CENTER] = {"center", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_IN}},  \
    [BN_FUSED_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_NONE, ROLE_IN, ROLE_IN}},    \
    [BN_FUSED_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_NONE}},  \
    [BN_FUSED_DGAMMA] = {"dgamma", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_OUT}}, \
    [BN_FUSED_DBETA] = {"dbeta", FILL_SIGNED, {ROLE_NONE, ROLE_IN, ROLE_OUT}},   \
    [BN_FUSED_DX] = {"dx", FILL_SIGNED, {ROLE_NONE, ROLE_OUT, ROLE_NONE}}

/* Shapes of the operands: activations and per-channel vectors. */
void bn_shape_pixels(const braid_problem *p, int i, plane_shape *out);
void bn_shape_channels(const braid_problem *p, int i, plane_shape *out);

/* The same for all operands of the fused ops, whose y has this size; planes are 0 for what a problem does without. */
void bn_fused_shape(const braid_problem *p, int slot, int i, const int64_t out_size[2], plane_shape *out);
int bn_fused_planes(const braid_problem *p, int slot);

/* Binds the operands of a natural op in the chain of a fused one: x, the gradient at `dy`, the statistics, and dx. */
void bn_chain_sums(op_chain *c, const braid_problem *p, int dy);
void bn_chain_bwd_apply(op_chain *c, const braid_problem *p, int dy);
/* y = x * scale + shift, to a place. */
void bn_chain_apply(op_chain *c, const braid_problem *p, int y);
/* The activation of the value at `x`, and its gradient from the one at `dy`; the problem's size and channels. */
void bn_chain_act(op_chain *c, const braid_problem *p, int x, int y);
void bn_chain_act_gradient(op_chain *c, const braid_problem *p, int x, int dy, int dx);

int64_t bn_terms(const braid_problem *p); /* values behind one channel's statistics */
void bn_draw(rng *r, braid_problem *p);
/* How the running statistics of a random problem follow the batches. */
void bn_draw_average(rng *r, braid_problem *p);

/* Refuses counts of values that do not fit in 64 bits, and training on a single value per channel, whose unbiased
 * variance does not exist. */
braid_status bn_check_train(const braid_problem *p);

/* The same of a mask that leaves stream i one value. */
braid_status bn_check_active(const braid_problem *p, int i, int64_t active);

#endif
