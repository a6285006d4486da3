/*
 * Several calls become one: a fused op (op.h: `chain`) names the ops that it equals, one after the other, and where
 * this chain is found in a program, one call of the fused op takes its place. One matcher does it for all of them,
 * forward and backward; a fused op is one row of the tables below. For a row and a call of the op whose sizes the fused
 * op has,
 *
 *   find    follows the chain from this call along the tensors that its steps share
 *   solve   makes the fused problem of the problems that were found, and expands it into its chain again
 *   agree   compares step by step: the same problems on the same tensors
 *   safe    what lies between the steps is read by nobody else, and moving the steps together changes no value
 *   pays    asks whoever knows kernels (program_options), but for ops whose own chain is a candidate in their race
 *
 * So a row says nothing of sizes, masks, pooling windows or slots: a chain that does not expand into the calls that are
 * there is none. A step may be part of a call, by its planes: LINet's normalisation of the streams and the integrated
 * pathway is one call, of which a convolution takes the streams. The call keeps the other planes.
 *
 * A mask blanks the same samples in every step of a chain (`expand`), also where the chain of the fused op, as it is
 * run, has no way to say so. A gradient that is added in the pass that makes one (gradient.c) is a step and an addition
 * in a chain, and one call here (`contract`).
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "compile/program.h"
#include "ops/problem.h"

/* When a row is taken, and where its call stands. */
enum {
    ASK = 0,      /* where it pays */
    FREE = 1,     /* without asking: the chain of the fused op is a candidate in its race */
    FIRST = 2,    /* in the place of the first step, not of the last */
    EVAL = 4,     /* only in evaluation: it has no gradient */
    KEEP_ALL = 8, /* only where nothing is made again: recompute.c knows no call that has two results */
};

typedef struct row {
    braid_op_id op; /* the fused op */
    braid_pass pass;
    braid_op_id sized; /* the step whose sizes are those of the fused op */
    braid_pass sized_pass;
    unsigned when;
    int add, residual_norm; /* of the fused problem, as is the next: which steps its chain has */
    braid_activation activation;
} row;

/* ROW(fused op, its pass, sized step, its pass, when, add, residual_norm, activation) */
#define ROW(fused, of, step, by, ...) \
    { BRAID_OP_##fused, BRAID_PASS_##of, BRAID_OP_##step, BRAID_PASS_##by, __VA_ARGS__ }
#define ACT BRAID_ACTIVATION_RELU /* or whichever was found */
#define NO_ACT BRAID_ACTIVATION_NONE

/* In the order in which they are tried: longer chains stand before their beginnings. */
static const row forward_rows[] = {
    ROW(CONV2D_SCALE_BIAS_ACT, FWD, CONV2D, FWD, FREE | EVAL, 1, 0, ACT),
    ROW(CONV2D_SCALE_BIAS_ACT, FWD, CONV2D, FWD, FREE | EVAL, 1, 0, NO_ACT),
    ROW(CONV2D_SCALE_BIAS_ACT, FWD, CONV2D, FWD, FREE | EVAL, 0, 0, ACT),
    ROW(CONV2D_SCALE_BIAS_ACT, FWD, CONV2D, FWD, FREE | EVAL, 0, 0, NO_ACT),
    ROW(BN_ACT_POOL, FWD, BN_APPLY, FWD, FREE, 0, 0, ACT),
    ROW(BN_ACT, FWD, BN_APPLY, FWD, FREE, 0, 0, ACT),
    ROW(BN_ADD_ACT, FWD, BN_APPLY, FWD, FREE, 0, 1, ACT),
    ROW(BN_ADD_ACT, FWD, BN_APPLY, FWD, FREE, 0, 0, ACT),
    ROW(BN_STATS_FINALIZE, FWD, BN_STATS, FWD, FREE, 0, 0, ACT),
    ROW(LINEAR_ACT, FWD, LINEAR, FWD, FREE, 0, 0, ACT),
    ROW(INTEGRATE_BN_STATS, FWD, INTEGRATE, FWD, ASK | FIRST, 0, 0, ACT),
    ROW(CONV2D_BN_STATS, FWD, CONV2D, FWD, ASK | FIRST, 0, 0, ACT),
    ROW(SSAE, FWD, LINEAR, FWD, ASK | EVAL, 0, 0, ACT),
};

/* When the gradients are there. */
static const row backward_rows[] = {
    ROW(LI_CONV2D, BWD_WEIGHT, CONV2D, BWD_WEIGHT, ASK, 0, 0, ACT),
    ROW(CONV2D_POOL_BN_BWD_APPLY, FWD, CONV2D, BWD_WEIGHT, ASK, 0, 0, ACT),
    ROW(INTEGRATE_BN_BWD_APPLY, FWD, INTEGRATE, BWD_DATA, ASK, 0, 0, ACT),
    ROW(INTEGRATE_BN_BWD_APPLY, FWD, INTEGRATE, BWD_DATA, ASK, 1, 0, ACT),
    ROW(INTEGRATE_BN_BWD_APPLY, FWD, INTEGRATE, BWD_DATA, ASK, 0, 0, NO_ACT),
    ROW(INTEGRATE_BN_BWD_APPLY, FWD, INTEGRATE, BWD_DATA, ASK, 1, 0, NO_ACT),
    ROW(CONV2D_DGRAD_BN_REDUCE, FWD, CONV2D, BWD_DATA, ASK | FIRST, 0, 0, ACT),
    ROW(CONV2D_DGRAD_BN_REDUCE, FWD, CONV2D, BWD_DATA, ASK | FIRST, 1, 0, ACT),
    ROW(CONV2D_DGRAD_BN_REDUCE, FWD, CONV2D, BWD_DATA, ASK | FIRST, 2, 0, ACT),
    ROW(CONV2D_DGRAD_BN_REDUCE, FWD, CONV2D, BWD_DATA, ASK | FIRST, 3, 0, ACT),
    ROW(BN_BWD, FWD, BN_ACT, BWD_WEIGHT, ASK | FIRST, 0, 0, ACT),
    ROW(BN_BWD, FWD, BN_ADD_ACT, BWD_WEIGHT, ASK | FIRST, 1, 0, ACT),
    ROW(BN_BWD, FWD, BN_BWD_REDUCE, FWD, ASK | FIRST, 0, 0, NO_ACT),
    ROW(BN_ACT_CONV2D, FWD, CONV2D, FWD, ASK | KEEP_ALL, 0, 0, ACT),
};

enum { PLACES = OP_MAX_OPERANDS + CHAIN_MAX_TEMPS };

/* Calls that a row may stand for. */
typedef struct match {
    program *p;
    const row *row;
    op_chain chain;
    int count;                                    /* of calls: a chain has more steps where two are parts of one */
    int calls[CHAIN_MAX_STEPS];                   /* in the order of the chain; -1: not found yet */
    int taken[CHAIN_MAX_STEPS][BRAID_MAX_PLANES]; /* 1: this plane of the call is part of a step */
    call part[CHAIN_MAX_STEPS];                   /* the calls with these planes alone */
    int bound[PLACES][BRAID_MAX_PLANES];          /* the tensors of the fused op and between its steps; -1: none yet */
    call fused;
} match;

static int is_live(const call *c) { return !c->is_view && !c->is_absorbed; }

/* A tensor, or what it is a view of: forward, nothing is changed in place. */
static int value_of(const program *p, const call *c, int index) {
    return c->segment == BRAID_SEGMENT_FORWARD && index >= 0 ? p->tensors[index].root : index;
}

/* ---- The chain ----------------------------------------------------------------------------- */

/* The step before `end` that makes `place` in a pass that can add to it; NULL: none. */
static chain_step *step_that_adds(op_chain *c, int end, int place, const addend **how) {
    for (int j = 0; j < end; j++) {
        for (int k = 0; k < addend_count; k++) {
            *how = &addends[k];
            if (c->steps[j].problem.op == addends[k].op && c->steps[j].problem.pass == BRAID_PASS_BWD_DATA &&
                c->steps[j].place[addends[k].output] == place)
                return &c->steps[j];
        }
    }
    return NULL;
}

/* Gives an addition, step `index`, to the pass that made one of its operands. 0: it stays. */
static int contract_one(op_chain *c, int index) {
    static const int operands[] = {ADD_X, ADD_Z};
    const int *place = c->steps[index].place;
    for (int k = 0; k < 2 && c->steps[index].problem.op == BRAID_OP_ADD; k++) {
        const addend *how;
        chain_step *s = place[operands[k]] < CHAIN_TEMP(0) ? NULL : step_that_adds(c, index, place[operands[k]], &how);
        if (!s) continue;
        s->problem.add |= how->bit;
        s->place[how->added] = place[operands[1 - k]];
        s->place[how->output] = place[ADD_Y];
        c->count--;
        memmove(&c->steps[index], &c->steps[index + 1], (size_t)(c->count - index) * sizeof c->steps[0]);
        return 1;
    }
    return 0;
}

/* An addition that goes leaves its index to the step behind it. */
static void contract(op_chain *c) {
    for (int j = 0; j < c->count;) j += !contract_one(c, j);
}

/* The chain of a problem, as its calls are in a program. 0: it has none. */
static int expand(const braid_problem *p, op_chain *c) {
    braid_problem plain = *p;
    plain.mask = 0;
    c->count = 0;
    if (op_of(p)->chain(&plain, c)) return 0;
    for (int j = 0; j < c->count; j++) {
        if (op_of(p)->fields & op_of(&c->steps[j].problem)->fields & FIELD_BIT(mask))
            c->steps[j].problem.mask = p->mask;
    }
    contract(c);
    return 1;
}

/* ---- Find ---------------------------------------------------------------------------------- */

/* Where the last plane of a step's operand lies; negative: nowhere. */
static int last_place(const chain_step *s, int slot) { return s->last[slot] != -1 ? s->last[slot] : s->place[slot]; }

/* The tensor of an operand in a plane of a call, or its only one. */
static int tensor_at(const call *c, int slot, int plane) {
    return c->tensor[slot][op_of(&c->problem)->planes(&c->problem, slot) == 1 ? 0 : plane];
}

/* How many tensors a plane of a call shares with the steps found so far, masks aside, if it is this step; -1 where one
 * is another. */
static int shared(const match *m, const chain_step *s, const call *c, int plane) {
    const op_info *o = op_of(&c->problem);
    int count = 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        const int place = last_place(s, slot);
        if (place < 0 || op_role(&c->problem, slot) == ROLE_NONE || m->bound[place][0] < 0) continue;
        if (m->bound[place][0] != value_of(m->p, c, tensor_at(c, slot, plane))) return -1;
        count += o->operands[slot].fill != FILL_MASK;
    }
    return count;
}

/* A plane of a call is the last one of step j. Until all are found, a place has this plane alone. */
static void take(match *m, int j, int index, int plane) {
    const call *c = &m->p->calls[index];
    const chain_step *s = &m->chain.steps[j];
    m->calls[j] = index;
    for (int slot = 0; slot < op_operand_count(op_of(&c->problem)); slot++) {
        const int place = last_place(s, slot);
        if (place >= 0 && op_role(&c->problem, slot) != ROLE_NONE)
            m->bound[place][0] = value_of(m->p, c, tensor_at(c, slot, plane));
    }
}

static int is_taken(const match *m, int index) {
    for (int j = 0; j < m->count; j++) {
        if (m->calls[j] == index) return 1;
    }
    return 0;
}

/* 1 for a call that a step of the match, which begins with call `from`, may be. */
static int is_step(const match *m, const chain_step *s, int index, int from) {
    const call *c = &m->p->calls[index];
    return is_live(c) && c->segment == m->p->calls[from].segment && c->problem.op == s->problem.op &&
           c->problem.pass == s->problem.pass && !is_taken(m, index);
}

static int find_step(match *m, int j, int from) {
    const chain_step *s = &m->chain.steps[j];
    for (int index = 0; index < m->p->call_count; index++) {
        if (!is_step(m, s, index, from)) continue;
        for (int plane = m->p->calls[index].problem.streams - 1; plane >= 0; plane--) {
            if (shared(m, s, &m->p->calls[index], plane) <= 0) continue;
            take(m, j, index, plane);
            return 1;
        }
    }
    return 0;
}

/* 1 where every step of the chain is a call, call `from` among them. */
static int find(match *m, int from) {
    int left = m->count = m->chain.count, before = left + 1;
    memset(m->bound, -1, sizeof m->bound);
    memset(m->calls, -1, sizeof m->calls);
    for (int j = 0; j < m->count && left == m->count; j++) {
        if (!is_step(m, &m->chain.steps[j], from, from)) continue;
        take(m, j, from, m->p->calls[from].problem.streams - 1);
        left--;
    }
    while (left > 0 && left < before) {
        before = left;
        for (int j = 0; j < m->count; j++) left -= m->calls[j] < 0 && find_step(m, j, from);
    }
    return left == 0;
}

/* ---- Solve --------------------------------------------------------------------------------- */

/* The fields that say which steps a chain has: a row's own. */
#define OF_ROW (FIELD_BIT(add) | FIELD_BIT(zn) | FIELD_BIT(given) | FIELD_BIT(skip))

/* Copies the fields that a problem has and nobody gave yet. */
static void take_fields(braid_problem *to, const braid_problem *from, uint64_t *known) {
    const uint64_t fresh = op_of(to)->fields & op_of(from)->fields & ~*known;
    for (int j = 0; j < FIELD_COUNT; j++) {
        if (fresh >> j & 1)
            memcpy((char *)to + fields[j].offset, (const char *)from + fields[j].offset, field_bytes(fields[j].kind));
    }
    *known |= fresh;
}

/* What a row says of its problem, and what call `from` does; *known are the fields that it has. Enough to ask for the
 * chain (op.h), not to be checked. */
static braid_problem begin_problem(const match *m, int from, uint64_t *known) {
    const row *r = m->row;
    const braid_problem *sized = &m->p->calls[from].problem;
    const braid_problem said = {.op = r->op,
                                .phase = m->p->options.phase,
                                .add = r->add,
                                .residual_norm = r->residual_norm,
                                .activation = r->activation,
                                .segments = 1};
    braid_problem p = {.op = r->op, .pass = r->pass, .dtype = sized->dtype};
    *known = ~(OF_ROW | FIELD_BIT(phase) | FIELD_BIT(act) | FIELD_BIT(seg));
    take_fields(&p, &said, known);
    *known = OF_ROW | FIELD_BIT(phase);
    take_fields(&p, sized, known);
    return p;
}

/* Makes the fused problem of all steps, and its chain. 0: it is none of the op. */
static int solve(match *m, int from) {
    const braid_problem *steps[CHAIN_MAX_STEPS];
    uint64_t known;
    braid_problem p = begin_problem(m, from, &known);
    for (int j = 0; j < m->count; j++) {
        steps[j] = &m->p->calls[m->calls[j]].problem;
        take_fields(&p, steps[j], &known);
    }
    if (op_of(&p)->of_steps) op_of(&p)->of_steps(steps, &p);
    if (braid_problem_check(&p) != BRAID_OK || !expand(&p, &m->chain)) return 0;
    m->fused = call_start(m->p, p.op, p.pass, NULL);
    m->fused.problem = p;
    m->fused.segment = m->p->calls[from].segment;
    return 1;
}

/* ---- Agree --------------------------------------------------------------------------------- */

/* Where plane i of `planes` of a step's operand is bound; NULL: nowhere. */
static int *place_of(match *m, const chain_step *s, int slot, int i, int planes) {
    const int is_last = s->last[slot] != -1 && i == planes - 1, place = is_last ? s->last[slot] : s->place[slot];
    return place < 0 ? NULL : &m->bound[place][is_last ? 0 : s->from[slot] + i];
}

/* 1 where a plane of a call is one of a step's, by an operand that is bound; -1: none is. */
static int is_plane_of(match *m, const chain_step *s, const call *c, int plane) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (op_role(&c->problem, slot) == ROLE_NONE || o->operands[slot].fill == FILL_MASK) continue;
        const int *bound = s->place[slot] < 0 ? NULL : place_of(m, s, slot, 0, c->problem.streams);
        if (!bound || *bound < 0) continue;
        for (int i = 0; i < s->problem.streams; i++) {
            if (bound[i] == c->tensor[slot][plane]) return 1;
        }
        return 0;
    }
    return -1;
}

/* Takes the planes of a step out of call j of the match, in their order: all, those that are bound, or the first. */
static int take_planes(match *m, int j, const chain_step *s, call *part) {
    const call *c = &m->p->calls[m->calls[j]];
    int keep[BRAID_MAX_PLANES] = {0};
    *part = *c;
    for (int i = 0; i < c->problem.streams; i++) {
        const int is_one = s->problem.streams == c->problem.streams ? 1 : is_plane_of(m, s, c, i);
        keep[i] = is_one < 0 ? i < s->problem.streams : is_one;
        if (keep[i] && m->taken[j][i]) return 0;
        m->taken[j][i] |= keep[i];
    }
    if (s->problem.streams < c->problem.streams && call_is_by_plane(c)) call_narrow(part, keep);
    return part->problem.streams == s->problem.streams;
}

/* 1 where a step is this call. Rounding to TF32 is allowed, not asked for; forward a phase changes no value, and
 * backward it does not matter whether the residual of a bn_add_act was normalised. */
static int is_same(const braid_problem *step, const braid_problem *got) {
    braid_problem expected = *step;
    expected.tf32 = got->tf32;
    if (got->pass == BRAID_PASS_FWD)
        expected.phase = got->phase;
    else
        expected.residual_norm = got->residual_norm;
    return braid_problem_check(&expected) == BRAID_OK && problem_same(&expected, got);
}

/* Binds the tensors of a step, or compares them with those that are bound. */
static int bind(match *m, const chain_step *s, const call *part) {
    const op_info *o = op_of(&part->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        const int planes = op_role(&part->problem, slot) == ROLE_NONE ? 0 : o->planes(&part->problem, slot);
        for (int i = 0; i < planes; i++) {
            const int got = part->tensor[slot][i];
            int *bound = place_of(m, s, slot, i, planes);
            if (!bound && s->last[slot] == CHAIN_NOWHERE && got != m->p->graph->mask[BRAID_MAX_PLANES - 1]) return 0;
            if (!bound) continue;
            if (*bound < 0) *bound = got;
            if (value_of(m->p, part, *bound) != value_of(m->p, part, got)) return 0;
        }
    }
    return 1;
}

/* 1 where step j of the expanded chain is a call of the match, which has the last one for two steps. */
static int agree_step(match *m, int step, int j) {
    const chain_step *s = &m->chain.steps[step];
    call part;
    return take_planes(m, j, s, &part) && is_same(&s->problem, &part.problem) && bind(m, s, &part);
}

/* 1 where the expanded chain is what was found: first the step whose sizes are the fused op's, then the others. */
static int agree(match *m, int from) {
    int sized = 0;
    memset(m->bound, -1, sizeof m->bound);
    memset(m->taken, 0, sizeof m->taken);
    while (m->calls[sized] != from) sized++;
    if (m->chain.count < m->count || !agree_step(m, sized, sized)) return 0;
    for (int step = 0; step < m->chain.count; step++) {
        const int j = step < m->count ? step : m->count - 1;
        if (step != sized && !agree_step(m, step, j)) return 0;
    }
    for (int j = 0; j < m->count; j++) {
        m->part[j] = m->p->calls[m->calls[j]];
        if (call_is_by_plane(&m->part[j])) call_narrow(&m->part[j], m->taken[j]);
    }
    memcpy(m->fused.tensor, m->bound, sizeof m->fused.tensor);
    return 1;
}

/* ---- Safe ---------------------------------------------------------------------------------- */

/* The first or last call of a match. */
static int end_of(const match *m, int is_last) {
    int end = m->calls[0];
    for (int j = 1; j < m->count; j++) {
        if (is_last == (m->calls[j] > end)) end = m->calls[j];
    }
    return end;
}

static int place_of_call(const match *m) { return end_of(m, !(m->row->when & FIRST)); }

/* 1 where the steps alone, which are set aside, make and read what lies between them. */
static int are_private(const match *m) {
    const program *p = m->p;
    for (int j = 0; j < CHAIN_MAX_TEMPS * BRAID_MAX_PLANES; j++) {
        const int index = m->bound[CHAIN_TEMP(j / BRAID_MAX_PLANES)][j % BRAID_MAX_PLANES];
        const tensor *root = index < 0 ? NULL : &p->tensors[p->tensors[index].root];
        if (root && (root->home != HOME_PLACED || root->is_kept ||
                     program_count_uses(p, 0, p->call_count, p->tensors[index].root, op_is_used)))
            return 0;
    }
    return 1;
}

static int is_whole(const match *m, int j) {
    return m->part[j].problem.streams == m->p->calls[m->calls[j]].problem.streams;
}

/* 1 where the steps may stand where one of them is, which leaves nothing there: no call between them uses what they
 * make or makes what they use. */
static int may_meet(const match *m) {
    const int place = place_of_call(m);
    for (int j = 0; j < m->count; j++) {
        const int at = m->calls[j];
        if (at == place && !is_whole(m, j)) return 0;
        if (at < place && !program_may_move(m->p, &m->part[j], at + 1, place)) return 0;
        if (at > place && !program_may_move(m->p, &m->part[j], place + 1, at)) return 0;
    }
    return 1;
}

/* How many operands of a call lie in the memory of a tensor but are not this tensor. */
static int count_others(const program *p, const call *c, int index, int (*has_role)(operand_role role)) {
    const op_info *o = op_of(&c->problem);
    int count = 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; has_role(op_role(&c->problem, slot)) && i < o->planes(&c->problem, slot); i++) {
            const int other = c->tensor[slot][i];
            count += other != index && p->tensors[other].root == p->tensors[index].root;
        }
    }
    return count;
}

/* 1 where a step writes over what another reads. */
static int writes_over(const match *m, const call *maker, const call *reader) {
    const op_info *o = op_of(&maker->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_is_output(op_role(&maker->problem, slot)) && i < o->planes(&maker->problem, slot); i++) {
            if (count_others(m->p, reader, maker->tensor[slot][i], op_is_input)) return 1;
        }
    }
    return 0;
}

static int any_writes_over(const match *m) {
    for (int j = 0; j < m->count * m->count && m->fused.segment == BRAID_SEGMENT_BACKWARD; j++) {
        const int maker = j / m->count, reader = j % m->count;
        if (maker != reader && writes_over(m, &m->part[maker], &m->part[reader])) return 1;
    }
    return 0;
}

/* 1 where the blanked samples of both operands of an addition are the same: a fused call knows one mask. */
static int same_masks(const program *p, const call *add) {
    for (int i = 0; i < add->problem.streams && p->options.mask && add->problem.op == BRAID_OP_ADD; i++) {
        int x = p->tensors[add->tensor[ADD_X][i]].plane, z = p->tensors[add->tensor[ADD_Z][i]].plane;
        const graph_plane *second = &p->graph->planes[z];
        if (p->graph->planes[x].stream != second->stream || second->kind == PLANE_INPUT) return 0;
    }
    return 1;
}

static void set_aside(match *m, int is_aside) {
    for (int j = 0; j < m->count; j++) m->p->calls[m->calls[j]].is_absorbed = is_aside;
}

static int is_safe(match *m) {
    for (int j = 0; j < m->count; j++) {
        if (!same_masks(m->p, &m->part[j])) return 0;
    }
    set_aside(m, 1);
    const int is_free = may_meet(m) && are_private(m);
    set_aside(m, 0);
    return is_free && !any_writes_over(m);
}

/* ---- Take ---------------------------------------------------------------------------------- */

/* What the gradient of a normalisation needs beside its own operands. */
static void bind_gradient(match *m) {
    call *c = &m->fused;
    const braid_op_id op = c->problem.op;
    if (op != BRAID_OP_BN_ACT && op != BRAID_OP_BN_ADD_ACT && op != BRAID_OP_BN_ACT_POOL) return;
    for (int i = 0; i < c->problem.streams; i++) {
        norm_tensors norm = program_norm(m->p, c->tensor[BN_FUSED_SCALE][i]);
        c->tensor[BN_FUSED_CENTER][i] = norm.center;
        c->tensor[BN_FUSED_RSTD][i] = norm.rstd;
        c->tensor[BN_FUSED_GAMMA][i] = c->tensor[BN_FUSED_DGAMMA][i] = norm.gamma;
        c->tensor[BN_FUSED_DBETA][i] = norm.beta;
    }
    for (int j = 0; j < m->count; j++) { /* before the normalisation of z */
        if (m->part[j].problem.op == BRAID_OP_ADD)
            call_bind(c, BN_FUSED_DZ, m->part[j].tensor[ADD_Z], BRAID_MAX_PLANES);
    }
}

/* 1 where call j of a match keeps its own gradient: the fused op has none, or gives that of what the call makes, as
 * bn_add_act does for the normalisation of its residual. */
static int keeps_gradient(const match *m, int j) {
    const call *c = &m->fused;
    if (op_of(&c->problem)->passes == 1U << BRAID_PASS_FWD) return 1;
    return c->problem.op == BRAID_OP_BN_ADD_ACT && m->part[j].problem.op == BRAID_OP_BN_APPLY &&
           m->part[j].tensor[BN_APPLY_Y][0] == c->tensor[BN_FUSED_DZ][0];
}

/* The call keeps the planes that the match does not take. */
static void leave_rest(match *m, int j) {
    int keep[BRAID_MAX_PLANES];
    for (int i = 0; i < BRAID_MAX_PLANES; i++) keep[i] = !m->taken[j][i];
    call_narrow(&m->p->calls[m->calls[j]], keep);
}

/* Puts the fused call where it belongs. A call whose place it takes and whose gradient stays moves to the other end. */
static void replace(match *m) {
    program *p = m->p;
    const int first = end_of(m, 0), last = end_of(m, 1), place = place_of_call(m);
    m->fused.natural = 0;
    for (int j = 0; j < m->count; j++) {
        call *c = &p->calls[m->calls[j]];
        if (!is_whole(m, j)) {
            leave_rest(m, j);
            continue;
        }
        m->fused.natural += c->natural;
        c->is_absorbed = 1;
        c->gradient_absorbed = !keeps_gradient(m, j);
    }
    if (place == first && m->fused.segment == BRAID_SEGMENT_FORWARD) p->calls[last] = p->calls[first];
    p->calls[place] = m->fused;
}

/* Fuses what a row says, if call `from` is the step whose sizes it has. */
static void try_row(program *p, const row *r, int from) {
    const program_options *o = &p->options;
    match m = {.p = p, .row = r};
    uint64_t known;
    const braid_problem begun = begin_problem(&m, from, &known);
    if (!expand(&begun, &m.chain) || !find(&m, from) || !solve(&m, from) || !agree(&m, from) || !is_safe(&m)) return;
    if (!(r->when & FREE) && !o->pays(o->user, &m.fused.problem)) return;
    bind_gradient(&m);
    replace(&m);
}

/* A chain that is none is no failure: the message stays what it was. */
static void fuse(program *p, const row *rows, size_t count) {
    const program_options *o = &p->options;
    const fail_kept kept = fail_keep();
    for (const row *r = rows; r < rows + count; r++) {
        if ((r->when & EVAL && o->phase != BRAID_PHASE_EVAL) || (r->when & KEEP_ALL && !o->keep_all)) continue;
        for (int j = 0; j < p->call_count && (r->when & FREE || o->pays); j++) {
            const call *c = &p->calls[j];
            if (is_live(c) && c->problem.op == r->sized && c->problem.pass == r->sized_pass) try_row(p, r, j);
        }
    }
    fail_put_back(&kept);
}

void program_fuse_forward(program *p) { fuse(p, forward_rows, sizeof forward_rows / sizeof forward_rows[0]); }

void program_fuse_backward(program *p) { fuse(p, backward_rows, sizeof backward_rows / sizeof backward_rows[0]); }
