/*
 * Batch normalisation put together from its ops: bn_stats, bn_finalize and bn_apply forward, bn_bwd_reduce and
 * bn_bwd_apply backward. Known situations have known answers, and the gradient of the whole is checked by finite
 * differences; one op of the chain can be served by any kernel, so that every candidate is tried.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_BN_CHAIN_H
#define BRAID_TESTS_BN_CHAIN_H

#include "tests/support/cases.h"
#include "tests/support/rig.h"

typedef struct bn_chain {
    rig stats, finalize, apply, sums, bn_bwd_apply;
    int train;
} bn_chain;

/* The problem of one op of the chain: p less the fields that the op does not have. Not checked yet. */
braid_problem bn_problem_of(const braid_problem *p, braid_op_id op);

/* `p` has the fields of all five ops (its op is ignored). x, masks, gamma, beta and dy come from the seed. `one` serves
 * the op it is a kernel of, the first able kernel the others; NULL: all. */
braid_status bn_chain_create(bn_chain *c, const braid_problem *p, device *d, const kernel *one, uint64_t seed);
void bn_chain_destroy(bn_chain *c);

/* x is that of the stats rig; the other rigs follow. The running statistics of the finalize rig move. */
braid_status bn_chain_forward(bn_chain *c);

/* After a forward run: dgamma, dbeta (sums rig) and dx (bn_bwd_apply rig) of the dy in the sums rig. */
braid_status bn_chain_backward(bn_chain *c);

/* The situations of tests/support/bn_scenarios.c, for every kernel of the suite's op. */
void bn_scenarios(suite *s);

/* Training on a single value per channel, which has no variance, is refused in words by the suite's op. */
void bn_refuses_single_value(suite *s);

/* dx, dgamma and dbeta of the chain by finite differences in double, train and eval, masked and not. */
void bn_gradients(suite *s);

#endif
