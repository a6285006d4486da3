/*
 * The two backward passes of a normalisation become one call, where a kernel does both in less time:
 *
 *   the weight and the data pass of bn_act or bn_add_act, or bn_sums and bn_dapply -> bn_grad
 *
 * The planes of one pass may be the last ones of the other: those before have their data pass elsewhere (join.c), or
 * their sums are made elsewhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

/* The slot of a call of either pass that means the same as one of bn_grad; -1: it has none. */
static int slot_of(const call *c, int slot) {
    static const int sums[] = {[BN_GRAD_X] = BN_SUMS_X,
                               [BN_GRAD_SCALE] = -1,
                               [BN_GRAD_SHIFT] = -1,
                               [BN_GRAD_MASK] = BN_SUMS_MASK,
                               [BN_GRAD_Y] = -1,
                               [BN_GRAD_DY] = BN_SUMS_DY,
                               [BN_GRAD_CENTER] = BN_SUMS_CENTER,
                               [BN_GRAD_RSTD] = BN_SUMS_RSTD,
                               [BN_GRAD_GAMMA] = -1,
                               [BN_GRAD_DGAMMA] = BN_SUMS_DGAMMA,
                               [BN_GRAD_DBETA] = BN_SUMS_DBETA};
    static const int dapply[] = {[BN_GRAD_X] = BN_DAPPLY_X,
                                 [BN_GRAD_SCALE] = -1,
                                 [BN_GRAD_SHIFT] = -1,
                                 [BN_GRAD_MASK] = BN_DAPPLY_MASK,
                                 [BN_GRAD_Y] = -1,
                                 [BN_GRAD_DY] = BN_DAPPLY_DY,
                                 [BN_GRAD_CENTER] = BN_DAPPLY_CENTER,
                                 [BN_GRAD_RSTD] = BN_DAPPLY_RSTD,
                                 [BN_GRAD_GAMMA] = BN_DAPPLY_GAMMA,
                                 [BN_GRAD_DGAMMA] = BN_DAPPLY_DGAMMA,
                                 [BN_GRAD_DBETA] = BN_DAPPLY_DBETA,
                                 [BN_GRAD_DX] = BN_DAPPLY_DX,
                                 [BN_GRAD_DZ] = -1};
    if (c->problem.op == BRAID_OP_BN_SUMS) return sums[slot];
    if (c->problem.op == BRAID_OP_BN_DAPPLY) return dapply[slot];
    return slot == BN_GRAD_DZ ? BN_FUSED_DZ : slot;
}

static int tensor_of(const call *c, int slot, int i) { return c->tensor[slot_of(c, slot)][i]; }

static int is_live(const call *c) { return c->segment == BRAID_SEGMENT_BACKWARD && !c->is_view && !c->is_absorbed; }

static int is_sums(const call *c) {
    return is_live(c) && (c->problem.op == BRAID_OP_BN_SUMS ||
                          ((c->problem.op == BRAID_OP_BN_ACT || c->problem.op == BRAID_OP_BN_ADD_ACT) &&
                           c->problem.pass == BRAID_PASS_BWD_WEIGHT));
}

/* 1 for the data pass, in training, of the op of a call of sums. */
static int is_data_of(const call *sums, const call *c) {
    if (!is_live(c) || c->problem.phase != BRAID_PHASE_TRAIN) return 0;
    if (sums->problem.op == BRAID_OP_BN_SUMS) return c->problem.op == BRAID_OP_BN_DAPPLY;
    return c->problem.op == sums->problem.op && c->problem.pass == BRAID_PASS_BWD_DATA;
}

/* 1 where the last planes of both are the same. */
static int is_match(const call *sums, const call *data) {
    static const int same[] = {BN_GRAD_X, BN_GRAD_DY, BN_GRAD_DGAMMA};
    int i = sums->problem.streams - 1, j = data->problem.streams - 1;
    for (; i >= 0 && j >= 0; i--, j--) {
        for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
            if (tensor_of(sums, same[k], i) != tensor_of(data, same[k], j)) return 0;
        }
    }
    return 1;
}

static call join(const program *p, const call *sums, const call *data) {
    const int summed = sums->problem.streams, made = data->problem.streams;
    const call *more = summed > made ? sums : data;
    call c = call_start(p, BRAID_OP_BN_GRAD, BRAID_PASS_FWD, &more->problem);
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    c.problem.dtype = more->problem.dtype;
    c.problem.add = more->problem.op == BRAID_OP_BN_ADD_ACT;
    if (sums->problem.op == BRAID_OP_BN_SUMS) c.problem.activation = BRAID_ACTIVATION_NONE;
    c.problem.given = made > summed ? made - summed : 0;
    c.problem.skip = summed > made ? summed - made : 0;
    for (int slot = BN_GRAD_X; slot <= BN_GRAD_DZ; slot++) {
        const int is_of_data = slot == BN_GRAD_GAMMA || slot == BN_GRAD_DX || slot == BN_GRAD_DZ;
        const call *from = is_of_data ? data : slot == BN_GRAD_DGAMMA || slot == BN_GRAD_DBETA ? sums : more;
        const int at = slot_of(from, slot);
        if (at >= 0) call_bind(&c, slot, from->tensor[at], from->problem.streams);
    }
    for (int i = 0; i < c.problem.given; i++) {
        c.tensor[BN_GRAD_GIVEN_DGAMMA][i] = tensor_of(data, BN_GRAD_DGAMMA, i);
        c.tensor[BN_GRAD_GIVEN_DBETA][i] = tensor_of(data, BN_GRAD_DBETA, i);
    }
    return c;
}

void program_join_norm(program *p) {
    const program_options *o = &p->options;
    for (int j = 0; j < p->call_count && o->has_kernel; j++) {
        for (int k = j + 1; is_sums(&p->calls[j]) && k < p->call_count; k++) {
            if (!is_data_of(&p->calls[j], &p->calls[k]) || !is_match(&p->calls[j], &p->calls[k])) continue;
            call c = join(p, &p->calls[j], &p->calls[k]);
            if (!program_may_move(p, &p->calls[k], j + 1, k) || braid_problem_check(&c.problem) != BRAID_OK) break;
            if (!o->has_kernel(o->user, &c.problem)) break;
            p->calls[j] = c;
            p->calls[k].is_absorbed = 1;
        }
    }
}
