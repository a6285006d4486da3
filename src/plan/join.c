/*
 * Backward calls that follow each other become one, where a kernel does both. The gradient that comes back through the
 * normalisation of a stream's raw output is added to that of the learned mix (gradient.c); instead of being written,
 * read and written again it is made there:
 *
 *   bn_act's data pass or bn_dapply, integrate's data pass with add1 -> integrate_dapply
 *
 * The normalisation keeps the planes that nobody adds to, such as the integrated one, whose gradient the mix reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

/* The call that makes what a mix adds to its streams, and which of its planes they are. */
typedef struct norm_call {
    int index;
    int plane[BRAID_MAX_PLANES];
} norm_call;

static int is_norm(const call *c) {
    return (c->problem.op == BRAID_OP_BN_ACT && c->problem.pass == BRAID_PASS_BWD_DATA) ||
           c->problem.op == BRAID_OP_BN_DAPPLY;
}

/* The slot of a normalisation's call that means the same as one of integrate_dapply. */
static int norm_slot(const call *norm, int slot) {
    static const int of_dapply[] = {
        [INTEGRATE_DAPPLY_X] = BN_DAPPLY_X,           [INTEGRATE_DAPPLY_MASK] = BN_DAPPLY_MASK,
        [INTEGRATE_DAPPLY_DY] = BN_DAPPLY_DY,         [INTEGRATE_DAPPLY_CENTER] = BN_DAPPLY_CENTER,
        [INTEGRATE_DAPPLY_RSTD] = BN_DAPPLY_RSTD,     [INTEGRATE_DAPPLY_GAMMA] = BN_DAPPLY_GAMMA,
        [INTEGRATE_DAPPLY_DGAMMA] = BN_DAPPLY_DGAMMA, [INTEGRATE_DAPPLY_DBETA] = BN_DAPPLY_DBETA,
        [INTEGRATE_DAPPLY_DX] = BN_DAPPLY_DX};
    return norm->problem.op == BRAID_OP_BN_DAPPLY ? of_dapply[slot] : slot;
}

/* The plane of a normalisation whose gradient a tensor is; -1: none. */
static int find_plane(const call *norm, int index) {
    for (int i = 0; i < norm->problem.streams; i++) {
        if (norm->tensor[norm_slot(norm, INTEGRATE_DAPPLY_DX)][i] == index) return i;
    }
    return -1;
}

/* 1 where a mix alone reads what the normalisation gives it, and nothing that this was made of has changed. */
static int may_move(const program *p, const call *norm, const norm_call *found, int mix) {
    const call *m = &p->calls[mix];
    for (int i = 0; i < m->problem.streams; i++) {
        const tensor *added = &p->tensors[m->tensor[INTEGRATE_A][i]];
        const int dy = norm->tensor[norm_slot(norm, INTEGRATE_DAPPLY_DY)][found->plane[i]];
        if (added->root != m->tensor[INTEGRATE_A][i] || added->home != HOME_PLACED || added->is_kept) return 0;
        if (program_count_uses(p, 0, p->call_count, added->root, op_is_input) != 1) return 0;
        if (program_count_uses(p, found->index, mix + 1, p->tensors[dy].root, op_is_output)) return 0;
        if (m->problem.mask &&
            norm->tensor[norm_slot(norm, INTEGRATE_DAPPLY_MASK)][found->plane[i]] != m->tensor[INTEGRATE_MASK][i])
            return 0;
    }
    return norm->problem.mask == m->problem.mask;
}

/* The normalisation in front of call `mix`; 0: there is none. */
static int find_norm(const program *p, int mix, norm_call *found) {
    const call *m = &p->calls[mix];
    for (int j = mix - 1; j >= 0 && p->calls[j].segment == BRAID_SEGMENT_BACKWARD; j--) {
        const call *norm = &p->calls[j];
        if (norm->is_view || norm->is_absorbed || !is_norm(norm)) continue;
        if (find_plane(norm, m->tensor[INTEGRATE_A][0]) < 0) continue;
        found->index = j;
        for (int i = 0; i < m->problem.streams; i++) {
            found->plane[i] = find_plane(norm, m->tensor[INTEGRATE_A][i]);
            if (found->plane[i] < 0) return 0;
        }
        return may_move(p, norm, found, mix);
    }
    return 0;
}

static call join(const program *p, const call *norm, const call *mix, const norm_call *found) {
    call c = call_start(p, BRAID_OP_INTEGRATE_DAPPLY, BRAID_PASS_FWD, &mix->problem);
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    c.problem.dtype = mix->problem.dtype;
    c.problem.add = (mix->problem.add & INTEGRATE_ADD_Z) != 0;
    c.problem.activation = norm->problem.op == BRAID_OP_BN_ACT ? norm->problem.activation : BRAID_ACTIVATION_NONE;
    for (int slot = INTEGRATE_DAPPLY_X; slot < INTEGRATE_DAPPLY_DX; slot++) {
        if (slot == INTEGRATE_DAPPLY_DMIX || op_of(&c.problem)->planes(&c.problem, slot) == 0) continue;
        for (int i = 0; i < mix->problem.streams; i++)
            c.tensor[slot][i] = norm->tensor[norm_slot(norm, slot)][found->plane[i]];
    }
    call_bind(&c, INTEGRATE_DAPPLY_DMIX, mix->tensor[INTEGRATE_Y], 1);
    call_bind(&c, INTEGRATE_DAPPLY_DX, mix->tensor[INTEGRATE_R], BRAID_MAX_PLANES);
    call_bind(&c, INTEGRATE_DAPPLY_V, mix->tensor[INTEGRATE_V], BRAID_MAX_PLANES);
    call_bind(&c, INTEGRATE_DAPPLY_W, mix->tensor[INTEGRATE_W], 1);
    call_bind(&c, INTEGRATE_DAPPLY_AZ, mix->tensor[INTEGRATE_AZ], 1);
    call_bind(&c, INTEGRATE_DAPPLY_DZ, mix->tensor[INTEGRATE_Z], 1);
    return c;
}

static void join_mix(program *p, int mix) {
    const program_options *o = &p->options;
    norm_call found = {0};
    if (!find_norm(p, mix, &found)) return;
    call *norm = &p->calls[found.index], c = join(p, norm, &p->calls[mix], &found);
    if (braid_problem_check(&c.problem) != BRAID_OK || !o->has_kernel(o->user, &c.problem)) return;
    int keep[BRAID_MAX_PLANES] = {0}, kept = norm->problem.streams - c.problem.streams;
    for (int i = 0; i < norm->problem.streams; i++) keep[i] = 1;
    for (int i = 0; i < c.problem.streams; i++) keep[found.plane[i]] = 0;
    p->calls[mix] = c;
    if (kept)
        call_narrow(norm, keep);
    else
        norm->is_absorbed = 1;
}

void program_join(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        const call *c = &p->calls[j];
        if (c->segment != BRAID_SEGMENT_BACKWARD || c->is_view || c->is_absorbed) continue;
        if (c->problem.op == BRAID_OP_INTEGRATE && c->problem.pass == BRAID_PASS_BWD_DATA &&
            (c->problem.add & INTEGRATE_ADD_R))
            join_mix(p, j);
    }
}
