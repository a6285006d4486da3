/*
 * What both backward kernels of bn_act_pool begin with: the gradient of the normalised values, made once in the
 * workspace, in the dtype of the problem.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_NORM_BN_ACT_POOL_GRADIENT_H
#define BRAID_KERNELS_CPU_NORM_BN_ACT_POOL_GRADIENT_H

#include "kernels/cpu/tile/chunks.h"

/* The slot that holds it in the buffers of bn_act_pool_ready: bn_act_pool has no residual. */
#define BN_ACT_POOL_G BN_FUSED_Z

typedef struct bn_act_pool_state {
    void *chunks;
    size_t rest;                    /* where the planes begin behind the workspace of the chunks */
    size_t place[BRAID_MAX_PLANES]; /* behind that */
} bn_act_pool_state;

/* Ready the state around chunks_create (coefficients) or chunks_create_sums. */
braid_status bn_act_pool_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes);
braid_status bn_act_pool_create_sums(const braid_problem *p, const channel_loops *l, void **state,
                                     size_t *workspace_bytes);
void bn_act_pool_destroy(device *d, void *state);

/* Makes the gradient; *out are the buffers with it. */
void bn_act_pool_ready(const braid_problem *p, const bn_act_pool_state *s, const buffers *b, buffers *out);

#endif
