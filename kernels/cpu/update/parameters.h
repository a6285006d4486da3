/*
 * A pass over an arena of all parameters, cut into chunks that one thread works on: the optimisers, with the
 * segments and groups of ops/update.h, and the norm of all gradients. The chunks depend on the problem alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_UPDATE_PARAMETERS_H
#define BRAID_KERNELS_CPU_UPDATE_PARAMETERS_H

#include "kernels/cpu/isa/updates.h"
#include "kernels/kernel.h"

/* Ready a pass with a workspace for the rules of all groups, or for one double per chunk. Return a state for
 * parameters_destroy. */
braid_status parameters_create(const braid_problem *p, const updates *u, void **state, size_t *workspace_bytes);
braid_status parameters_create_sums(const braid_problem *p, const updates *u, void **state, size_t *workspace_bytes);
void parameters_destroy(device *d, void *state);

/* Predicted seconds. */
double parameters_cost(const braid_problem *p, const machine *on, const updates *u);

/* What one update asks of a group: step is 1 or more. */
typedef struct update_group {
    double rate, decay;
    int64_t step;
} update_group;

/* Sets the factors of a group that its optimiser uses; scale and live are set already. */
typedef void (*update_rule_function)(const braid_problem *p, const update_group *g, update_rule *r);

/* Updates all elements, and writes the copy in a half format where the problem has one. */
void parameters_update(const braid_problem *p, const void *state, const buffers *b, update_kind kind,
                       update_rule_function make);

/* The sum of the squares of g [count], of c at most, in double. */
double parameters_squares(const void *state, const buffers *b, const float *g, int64_t count);

/* Elements of a dtype as floats. */
void parameters_cast(const void *state, braid_dtype dtype, float *to, const void *from, int64_t count);

#endif
