/*
 * The loss and the gradients. Going back through the forward calls, each call's gradient rule (ops/op.h) adds
 * the calls that make the gradients of its inputs from those of its outputs. A tensor that several calls read gets a
 * sum of gradients; planes that lie side by side are summed in one call. What no gradient reaches has none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "compile/program.h"

#define MAX_PARTS 16 /* gradients that one tensor gets before they are summed */

/* The gradients that a forward tensor has got so far. */
typedef struct parts {
    int count;
    int tensor[MAX_PARTS];
} parts;

#define MAX_POSTPONED 16

typedef struct gradients {
    program *program;
    parts *of;
    int tensor_count;              /* forward tensors */
    call postponed[MAX_POSTPONED]; /* their data passes come last of all that read the same */
    int postponed_count;
} gradients;

static call start_backward(const program *p, braid_op_id op, braid_pass pass, const braid_problem *from) {
    call c = call_start(p, op, pass, from);
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    return c;
}

static braid_status give(gradients *g, int of, int gradient) {
    if (of < 0 || of >= g->tensor_count || !g->program->tensors[of].is_wanted) return BRAID_OK;
    parts *p = &g->of[of];
    if (p->count == MAX_PARTS)
        return fail(BRAID_ERROR_ARGUMENT, "plan: expected a value to be read by at most %d ops, got more", MAX_PARTS);
    p->tensor[p->count++] = gradient;
    return BRAID_OK;
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static int same_rows(const plane_shape *a, const plane_shape *b) {
    if (a->rank != b->rank || a->dtype != b->dtype) return 0;
    return memcmp(a->dims, b->dims, (size_t)(a->rank - 1) * sizeof a->dims[0]) == 0;
}

/* Adds up two gradients of every listed tensor that has several, in one call. */
static braid_status sum_once(gradients *g, const int *tensors, int count, int *more) {
    program *p = g->program;
    call c = start_backward(p, BRAID_OP_ADD, BRAID_PASS_FWD, NULL);
    const plane_shape *like = NULL;
    int picked[BRAID_MAX_PLANES], n = 0;
    for (int i = 0; i < count; i++) {
        if (tensors[i] < 0 || g->of[tensors[i]].count < 2) continue;
        parts *some = &g->of[tensors[i]];
        const plane_shape *shape = &p->tensors[some->tensor[0]].shape;
        if (like && !same_rows(like, shape)) continue;
        like = shape;
        c.problem.in_channels[n] = shape->dims[shape->rank - 1];
        c.tensor[ADD_X][n] = some->tensor[some->count - 2];
        c.tensor[ADD_Z][n] = some->tensor[some->count - 1];
        picked[n++] = tensors[i];
    }
    *more = n > 0;
    if (!n) return BRAID_OK;
    c.problem.streams = n;
    c.problem.dtype = like->dtype;
    c.problem.batch = like->rank > 1 ? like->dims[0] : 1;
    for (int axis = 0; axis < 2; axis++) c.problem.size[axis] = like->rank == 4 ? like->dims[1 + axis] : 1;
    TRY(program_add_call(p, &c));
    const call *added = &p->calls[p->call_count - 1];
    for (int i = 0; i < n; i++) {
        parts *some = &g->of[picked[i]];
        some->tensor[--some->count - 1] = added->tensor[ADD_Y][i];
    }
    return BRAID_OK;
}

/* The gradients of the listed tensors, each as one tensor; -1 where none reaches it. */
static braid_status resolve(gradients *g, const int *tensors, int count, int *out) {
    int more = 1;
    while (more) TRY(sum_once(g, tensors, count, &more));
    for (int i = 0; i < count; i++) {
        int known = tensors[i] >= 0 && g->of[tensors[i]].count;
        out[i] = known ? g->of[tensors[i]].tensor[0] : -1;
    }
    return BRAID_OK;
}

/* ---- Rules --------------------------------------------------------------------------------- */

/* 1 where the operand of a pass holds a gradient. */
static int is_gradient(const braid_problem *p, int slot) {
    operand_role role = op_role(p, slot);
    return role == ROLE_DIN || role == ROLE_DOUT || (role != ROLE_NONE && op_slot_is_gradient(op_of(p), slot));
}

/* The forward tensors whose gradients an operand holds: as bound, else those of the operand without the d. */
static const int *gradient_of(const call *c, int slot) {
    const op_info *o = op_of(&c->problem);
    if (!op_slot_is_gradient(o, slot) || c->tensor[slot][0] >= 0) return c->tensor[slot];
    int whose = op_slot(o, o->operands[slot].name + 1);
    return whose < 0 ? c->tensor[slot] : c->tensor[whose];
}

static int any_wanted(const program *p, const int *tensors, int count) {
    for (int i = 0; i < count; i++) {
        if (tensors[i] >= 0 && p->tensors[tensors[i]].is_wanted) return 1;
    }
    return 0;
}

/* 1 where a pass makes a gradient that is asked for. */
static int pass_is_wanted(const program *p, const call *c, braid_pass pass) {
    braid_problem q = c->problem;
    const op_info *o = op_of(&q);
    q.pass = pass;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!is_gradient(&q, slot) || !op_is_output(op_role(&q, slot))) continue;
        if (any_wanted(p, gradient_of(c, slot), o->planes(&q, slot))) return 1;
    }
    return 0;
}

/* Gradients that the call's own weight pass made are taken as they are: its data pass means no others. */
static int own_gradient(const call *weight_pass, const call *c, int of) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; weight_pass && slot < op_operand_count(o); slot++) {
        if (!is_gradient(&weight_pass->problem, slot) || !op_is_output(op_role(&weight_pass->problem, slot))) continue;
        for (int i = 0; i < o->planes(&weight_pass->problem, slot); i++) {
            if (gradient_of(c, slot)[i] == of) return weight_pass->tensor[slot][i];
        }
    }
    return -1;
}

static braid_status bind_gradients(gradients *g, const call *c, const call *weight_pass, int slot, call *b) {
    const int *whose = gradient_of(c, slot);
    int planes = op_of(&b->problem)->planes(&b->problem, slot);
    TRY(resolve(g, whose, planes, b->tensor[slot]));
    for (int i = 0; i < planes; i++) {
        int own = own_gradient(weight_pass, c, whose[i]);
        if (own >= 0) b->tensor[slot][i] = own;
    }
    return BRAID_OK;
}

const addend addends[] = {
    {BRAID_OP_INTEGRATE, INTEGRATE_ADD_R, INTEGRATE_R, INTEGRATE_A},
    {BRAID_OP_INTEGRATE, INTEGRATE_ADD_Z, INTEGRATE_Z, INTEGRATE_AZ},
    {BRAID_OP_CONV2D, 1, CONV2D_X, CONV2D_A},
};
const int addend_count = sizeof addends / sizeof addends[0];

/* True where each plane of an output belongs to a tensor that has a gradient already. */
static int is_known(const gradients *g, const call *c, const braid_problem *p, int slot) {
    const int *whose = gradient_of(c, slot);
    int planes = op_of(p)->planes(p, slot);
    for (int i = 0; i < planes; i++) {
        if (whose[i] < 0 || whose[i] >= g->tensor_count || !g->of[whose[i]].count) return 0;
    }
    return planes > 0;
}

/* True where the pass makes few pixels of an output, and the rest is what is added to it. */
static int is_sparse(const braid_problem *p, int slot) {
    int strided = p->stride[0] > 1 || p->stride[1] > 1;
    if (p->op == BRAID_OP_INTEGRATE) return strided && slot == INTEGRATE_Z;
    return p->op == BRAID_OP_CONV2D && strided && p->filter[0] == 1 && p->filter[1] == 1;
}

/* True where nobody else reads or holds a gradient, so that it may be changed in place. */
static int is_unshared(const gradients *g, int gradient) {
    const program *p = g->program;
    const tensor *t = &p->tensors[gradient];
    if (t->root != gradient || t->home != HOME_PLACED || t->is_kept) return 0;
    for (int of = 0; of < g->tensor_count; of++) {
        for (int j = 0; j < g->of[of].count; j++) {
            if (p->tensors[g->of[of].tensor[j]].root == gradient) return 0;
        }
    }
    return 1;
}

/* Outputs that are mostly what is added to them lie in its memory. */
static void share_memory(gradients *g, const call *b, const addend *at) {
    program *p = g->program;
    if (!(b->problem.add & at->bit) || !is_sparse(&b->problem, at->output)) return;
    for (int i = 0; i < op_of(&b->problem)->planes(&b->problem, at->output); i++) {
        int added = b->tensor[at->added][i];
        if (is_unshared(g, added)) p->tensors[b->tensor[at->output][i]].root = added;
    }
}

/* The gradients that are known when a data pass comes (what a stream or a residual path passes back) are added to in
 * that pass, where a kernel can; else they are summed later. */
static void add_in_pass(gradients *g, const call *c, call *b) {
    const program_options *o = &g->program->options;
    if (b->problem.pass != BRAID_PASS_BWD_DATA || !o->pays) return;
    for (int j = 0; j < addend_count; j++) {
        const addend *at = &addends[j];
        braid_problem added = b->problem;
        if (at->op != added.op || !is_known(g, c, &added, at->output)) continue;
        added.add |= at->bit;
        if (braid_problem_check(&added) != BRAID_OK || !o->pays(o->user, &added)) continue;
        b->problem.add = added.add;
        for (int i = 0; i < op_of(&added)->planes(&added, at->output); i++) {
            parts *known = &g->of[gradient_of(c, at->output)[i]];
            b->tensor[at->added][i] = known->tensor[--known->count];
        }
    }
}

/* One gradient pass of a call. On return *made is the call as it was added. */
static braid_status add_pass(gradients *g, const call *c, const call *weight_pass, braid_pass pass, call *made) {
    program *p = g->program;
    const op_info *o = op_of(&c->problem);
    call b = start_backward(p, c->problem.op, pass, &c->problem);
    b.problem.dtype = c->problem.dtype;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        operand_role role = op_role(&b.problem, slot);
        if (role == ROLE_NONE) continue;
        if (!is_gradient(&b.problem, slot))
            call_bind(&b, slot, c->tensor[slot], BRAID_MAX_PLANES);
        else if (op_is_input(role))
            TRY(bind_gradients(g, c, weight_pass, slot, &b));
    }
    add_in_pass(g, c, &b);
    TRY(program_add_call(p, &b));
    for (int j = 0; j < addend_count; j++) {
        if (addends[j].op == b.problem.op) share_memory(g, &b, &addends[j]);
    }
    *made = b;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!is_gradient(&b.problem, slot) || !op_is_output(op_role(&b.problem, slot))) continue;
        for (int i = 0; i < o->planes(&b.problem, slot); i++) TRY(give(g, gradient_of(c, slot)[i], b.tensor[slot][i]));
    }
    return BRAID_OK;
}

/* True where the data pass of a call is best the last of all that read the same: it changes few pixels, in place. */
static int is_postponed(gradients *g, const call *c) {
    const program_options *o = &g->program->options;
    braid_problem added = c->problem;
    added.pass = BRAID_PASS_BWD_DATA;
    added.add = 1;
    if (added.op != BRAID_OP_CONV2D || !is_sparse(&added, CONV2D_X) || g->postponed_count == MAX_POSTPONED) return 0;
    if (!o->pays || braid_problem_check(&added) != BRAID_OK || !o->pays(o->user, &added)) return 0;
    g->postponed[g->postponed_count++] = *c;
    return 1;
}

/* True where a call makes something that another convolution reads. */
static int feeds(const call *maker, const call *c) {
    const op_info *o = op_of(&maker->problem);
    int found = 0;
    for (int i = 0; i < c->problem.streams; i++) {
        const int x = c->tensor[CONV2D_X][i];
        if (maker->is_view) found |= maker->tensor[1][0] == x;
        for (int slot = 0; !maker->is_view && slot < op_operand_count(o); slot++) {
            int planes = op_role(&maker->problem, slot) == ROLE_OUT ? o->planes(&maker->problem, slot) : 0;
            for (int j = 0; j < planes; j++) found |= maker->tensor[slot][j] == x;
        }
    }
    return found;
}

/* The postponed data passes of calls that read what a call makes. */
static braid_status catch_up(gradients *g, const call *maker) {
    for (int k = g->postponed_count - 1; k >= 0; k--) {
        call data;
        const call c = g->postponed[k];
        if (!feeds(maker, &c)) continue;
        g->postponed[k] = g->postponed[--g->postponed_count];
        TRY(add_pass(g, &c, NULL, BRAID_PASS_BWD_DATA, &data));
    }
    return BRAID_OK;
}

static braid_status by_passes(gradients *g, const call *c) {
    call weights, data;
    unsigned passes = op_of(&c->problem)->passes;
    int has_weights = (passes >> BRAID_PASS_BWD_WEIGHT & 1) && pass_is_wanted(g->program, c, BRAID_PASS_BWD_WEIGHT);
    int has_data = (passes >> BRAID_PASS_BWD_DATA & 1) && pass_is_wanted(g->program, c, BRAID_PASS_BWD_DATA);
    if (has_weights) TRY(add_pass(g, c, NULL, BRAID_PASS_BWD_WEIGHT, &weights));
    if (has_data && is_postponed(g, c)) return BRAID_OK;
    return has_data ? add_pass(g, c, has_weights ? &weights : NULL, BRAID_PASS_BWD_DATA, &data) : BRAID_OK;
}

static braid_status by_norm(gradients *g, const call *c) {
    program *p = g->program;
    call sums = start_backward(p, BRAID_OP_BN_BWD_REDUCE, BRAID_PASS_FWD, &c->problem);
    call apply = start_backward(p, BRAID_OP_BN_BWD_APPLY, BRAID_PASS_FWD, &c->problem);
    int n = c->problem.streams;
    apply.problem.phase = p->options.phase;
    TRY(resolve(g, c->tensor[BN_APPLY_Y], n, sums.tensor[BN_BWD_REDUCE_DY]));
    call_bind(&sums, BN_BWD_REDUCE_X, c->tensor[BN_APPLY_X], n);
    call_bind(&sums, BN_BWD_REDUCE_MASK, c->tensor[BN_APPLY_MASK], n);
    norm_tensors norm[BRAID_MAX_PLANES];
    for (int i = 0; i < n; i++) {
        norm[i] = program_norm(p, c->tensor[BN_APPLY_SCALE][i]);
        sums.tensor[BN_BWD_REDUCE_CENTER][i] = apply.tensor[BN_BWD_APPLY_CENTER][i] = norm[i].center;
        sums.tensor[BN_BWD_REDUCE_RSTD][i] = apply.tensor[BN_BWD_APPLY_RSTD][i] = norm[i].rstd;
        apply.tensor[BN_BWD_APPLY_GAMMA][i] = norm[i].gamma;
    }
    TRY(program_add_call(p, &sums));
    call_bind(&apply, BN_BWD_APPLY_X, sums.tensor[BN_BWD_REDUCE_X], n);
    call_bind(&apply, BN_BWD_APPLY_DY, sums.tensor[BN_BWD_REDUCE_DY], n);
    call_bind(&apply, BN_BWD_APPLY_MASK, sums.tensor[BN_BWD_REDUCE_MASK], n);
    call_bind(&apply, BN_BWD_APPLY_DGAMMA, sums.tensor[BN_BWD_REDUCE_DGAMMA], n);
    call_bind(&apply, BN_BWD_APPLY_DBETA, sums.tensor[BN_BWD_REDUCE_DBETA], n);
    TRY(program_add_call(p, &apply));
    for (int i = 0; i < n; i++) {
        TRY(give(g, norm[i].gamma, sums.tensor[BN_BWD_REDUCE_DGAMMA][i]));
        TRY(give(g, norm[i].beta, sums.tensor[BN_BWD_REDUCE_DBETA][i]));
        TRY(give(g, c->tensor[BN_APPLY_X][i], apply.tensor[BN_BWD_APPLY_DX][i]));
    }
    return BRAID_OK;
}

static braid_status by_sharing(gradients *g, const call *c) {
    int gradient[BRAID_MAX_PLANES];
    TRY(resolve(g, c->tensor[ADD_Y], c->problem.streams, gradient));
    for (int i = 0; i < c->problem.streams; i++) {
        TRY(give(g, c->tensor[ADD_X][i], gradient[i]));
        TRY(give(g, c->tensor[ADD_Z][i], gradient[i]));
    }
    return BRAID_OK;
}

static braid_status by_cast(gradients *g, const call *c) {
    call b = start_backward(g->program, BRAID_OP_CAST, BRAID_PASS_FWD, &c->problem);
    b.problem.dtype = c->problem.to;
    b.problem.to = c->problem.dtype;
    TRY(resolve(g, c->tensor[CAST_Y], c->problem.streams, b.tensor[CAST_X]));
    TRY(program_add_call(g->program, &b));
    for (int i = 0; i < c->problem.streams; i++) TRY(give(g, c->tensor[CAST_X][i], b.tensor[CAST_Y][i]));
    return BRAID_OK;
}

/* The gradient of a view is a view of the gradient. */
static braid_status by_view(gradients *g, const call *c) {
    program *p = g->program;
    int gradient, seen, x = c->tensor[0][0];
    TRY(resolve(g, c->tensor[1], 1, &gradient));
    TRY(program_add_tensor(p, NULL, &seen));
    tensor *t = &p->tensors[seen];
    t->shape = p->tensors[x].shape;
    t->bytes = p->tensors[gradient].bytes;
    t->root = p->tensors[gradient].root;
    return give(g, x, seen);
}

/* ---- Going back ---------------------------------------------------------------------------- */

/* Which planes of a call's outputs a gradient reaches; returns how many. */
static int find_reached(const gradients *g, const call *c, int *reached) {
    const op_info *o = op_of(&c->problem);
    int count = 0;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        reached[i] = 0;
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            int output = op_role(&c->problem, slot) == ROLE_OUT, t = c->tensor[slot][i];
            if (output && i < o->planes(&c->problem, slot) && t >= 0 && t < g->tensor_count)
                reached[i] |= g->of[t].count > 0;
        }
        count += reached[i];
    }
    return count;
}

static braid_status go_back(gradients *g, const call *c) {
    int reached[BRAID_MAX_PLANES];
    call some = *c;
    if (c->is_view) return g->of[c->tensor[1][0]].count ? by_view(g, c) : BRAID_OK;
    int count = find_reached(g, c, reached);
    if (!count) return BRAID_OK;
    if (count < c->problem.streams && call_is_by_plane(c)) call_narrow(&some, reached);
    switch (op_of(&c->problem)->gradient) {
        case GRADIENT_SAME: return by_sharing(g, &some);
        case GRADIENT_NORM: return by_norm(g, &some);
        case GRADIENT_CAST: return by_cast(g, &some);
        default: return by_passes(g, &some);
    }
}

/* Which forward tensors a parameter is behind. */
static void spread_wanted(program *p) {
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        const op_info *o = op_of(&c->problem);
        int wanted = 0;
        if (c->is_view) {
            p->tensors[c->tensor[1][0]].is_wanted = p->tensors[c->tensor[0][0]].is_wanted;
            continue;
        }
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            if (op_is_input(op_role(&c->problem, slot)))
                wanted |= any_wanted(p, c->tensor[slot], o->planes(&c->problem, slot));
        }
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            if (op_role(&c->problem, slot) != ROLE_OUT) continue;
            for (int i = 0; i < o->planes(&c->problem, slot); i++) p->tensors[c->tensor[slot][i]].is_wanted |= wanted;
        }
    }
}

/* The gradients of parameters lie in the twin of the parameters. */
static braid_status keep_parameter_gradients(gradients *g) {
    program *p = g->program;
    for (int t = 0; t < p->graph->plane_count; t++) {
        int gradient;
        if (p->graph->planes[t].kind != PLANE_PARAMETER || !g->of[t].count) continue;
        TRY(resolve(g, &t, 1, &gradient));
        tensor *made = &p->tensors[gradient];
        if (made->root != gradient || made->plane >= 0)
            return fail(BRAID_ERROR_ARGUMENT, "plan: expected parameter %s to be read by an op that makes its gradient",
                        p->graph->planes[t].name);
        made->home = HOME_GRADIENT;
        made->plane = t;
    }
    return BRAID_OK;
}

/* ---- The loss ------------------------------------------------------------------------------ */

static braid_status add_kept(program *p, const plane_shape *shape, int *index) {
    TRY(program_add_tensor(p, shape, index));
    p->tensors[*index].is_kept = 1;
    return BRAID_OK;
}

/* The tensor that an mse compares with: the input, or one of its own. */
static braid_status find_target(program *p, int *target) {
    *target = -1;
    for (int t = 0; t < p->graph->plane_count && p->graph->target_is_input; t++) {
        if (p->graph->planes[t].kind == PLANE_INPUT) *target = t;
    }
    if (*target >= 0) return BRAID_OK;
    plane_shape shape = p->tensors[p->output].shape;
    TRY(add_kept(p, &shape, target));
    p->labels = *target;
    return BRAID_OK;
}

static braid_status add_class_loss(program *p, call *c) {
    const program_options *o = &p->options;
    plane_shape labels = {BRAID_DTYPE_I32, 1, {o->batch}, o->batch};
    c->problem.smoothing = c->problem.op == BRAID_OP_SOFTMAX_XENT ? o->smoothing : 0;
    if (c->problem.op == BRAID_OP_SOFTMAX_XENT) c->problem.class_weights = o->class_weights;
    if (c->problem.op == BRAID_OP_FOCAL) {
        c->problem.alpha = o->alpha;
        c->problem.gamma = o->gamma;
    }
    TRY(add_kept(p, &labels, &p->labels));
    c->tensor[CLASS_X][0] = p->output;
    c->tensor[CLASS_LABELS][0] = p->labels;
    if (c->problem.class_weights) {
        plane_shape weights = {dtype_statistics(o->dtype), 1, {c->problem.in_channels[0]}, c->problem.in_channels[0]};
        TRY(add_kept(p, &weights, &p->weights));
        c->tensor[CLASS_WEIGHTS][0] = p->weights;
    }
    TRY(program_add_call(p, c));
    p->loss = c->tensor[CLASS_LOSS][0];
    p->correct = c->tensor[CLASS_CORRECT][0];
    p->tensors[p->correct].is_kept = 1;
    p->tensors[p->correct].home = HOME_METRICS;
    return BRAID_OK;
}

static braid_status add_mse(program *p, call *c) {
    c->tensor[MSE_X][0] = p->output;
    TRY(find_target(p, &c->tensor[MSE_T][0]));
    TRY(program_add_call(p, c));
    p->loss = c->tensor[MSE_LOSS][0];
    return BRAID_OK;
}

static braid_status add_loss(program *p) {
    static const braid_op_id ops[] = {[BRAID_LOSS_CROSS_ENTROPY] = BRAID_OP_SOFTMAX_XENT,
                                      [BRAID_LOSS_FOCAL] = BRAID_OP_FOCAL,
                                      [BRAID_LOSS_MSE] = BRAID_OP_MSE};
    const tensor *output = &p->tensors[p->output];
    call c = call_start(p, ops[p->options.loss], BRAID_PASS_FWD, NULL);
    c.problem.streams = 1;
    c.problem.batch = output->shape.dims[0];
    c.problem.in_channels[0] = (int64_t)(output->bytes / dtype_bytes(output->shape.dtype)) / c.problem.batch;
    TRY(p->options.loss == BRAID_LOSS_MSE ? add_mse(p, &c) : add_class_loss(p, &c));
    p->tensors[p->loss].is_kept = 1;
    p->tensors[p->loss].home = HOME_METRICS;
    return BRAID_OK;
}

braid_status program_differentiate(program *p) {
    gradients g = {.program = p};
    if (p->options.loss == BRAID_LOSS_NONE) return BRAID_OK;
    TRY(add_loss(p));
    if (p->options.phase != BRAID_PHASE_TRAIN) return BRAID_OK;
    plane_shape one = p->tensors[p->loss].shape;
    TRY(add_kept(p, &one, &p->loss_scale));
    p->tensors[p->loss_scale].home = HOME_METRICS;
    spread_wanted(p);
    int calls = p->call_count;
    g.tensor_count = p->tensor_count;
    TRY(memory_calloc((size_t)g.tensor_count, sizeof *g.of, "gradients", (void **)&g.of));
    braid_status status = give(&g, p->loss, p->loss_scale);
    for (int j = calls - 1; j >= 0 && !status; j--) {
        call c = p->calls[j];
        status = catch_up(&g, &c);
        if (!status && !c.gradient_absorbed) status = go_back(&g, &c);
    }
    if (!status) status = keep_parameter_gradients(&g);
    memory_free(g.of);
    return status;
}
