/*
 * A max-pooling goes before the ReLU in front of it, where that is no part of a fused call and nobody else reads what
 * lies between: the largest of rectified values is the rectified largest value, and the gradient takes the same way,
 * from fewer pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compile/program.h"

/* The pooling that alone reads what an activation makes; NULL: there is none. */
static call *sole_pool(program *p, const call *act) {
    call *pool = NULL;
    for (int j = 0; j < p->call_count && !pool; j++) {
        call *c = &p->calls[j];
        if (!c->is_view && !c->is_absorbed && c->problem.op == BRAID_OP_MAXPOOL &&
            c->problem.streams == act->problem.streams && c->tensor[MAXPOOL_X][0] == act->tensor[ACT_Y][0])
            pool = c;
    }
    for (int i = 0; pool && i < act->problem.streams; i++) {
        const int between = act->tensor[ACT_Y][i];
        if (pool->tensor[MAXPOOL_X][i] != between || p->tensors[p->tensors[between].root].is_kept ||
            program_count_uses(p, 0, p->call_count, p->tensors[between].root, op_is_input) != 1)
            return NULL;
    }
    return pool;
}

static braid_status swap_pool(program *p, call *act) {
    call *pool = sole_pool(p, act);
    if (!pool || act->problem.activation != BRAID_ACTIVATION_RELU) return BRAID_OK;
    call first = *pool, second = *act;
    call_bind(&first, MAXPOOL_X, act->tensor[ACT_X], BRAID_MAX_PLANES);
    call_bind(&first, MAXPOOL_Y, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&second, ACT_X, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&second, ACT_Y, pool->tensor[MAXPOOL_Y], BRAID_MAX_PLANES);
    for (int axis = 0; axis < 2; axis++) second.problem.size[axis] = maxpool_out_size(&first.problem, axis);
    for (int i = 0; i < act->problem.streams; i++) {
        tensor *between = &p->tensors[act->tensor[ACT_Y][i]];
        const tensor *pooled = &p->tensors[pool->tensor[MAXPOOL_Y][i]];
        between->shape = pooled->shape;
        between->bytes = pooled->bytes;
    }
    TRY(braid_problem_check(&second.problem));
    *act = first;
    *pool = second;
    return BRAID_OK;
}

braid_status program_reorder(program *p) {
    for (int j = 0; j < p->call_count; j++) {
        call *c = &p->calls[j];
        if (!c->is_view && !c->is_absorbed && c->problem.op == BRAID_OP_ACT) TRY(swap_pool(p, c));
    }
    return BRAID_OK;
}
