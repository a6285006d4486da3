/*
 * From a graph to forward calls: batch and image size go in at the inputs, and the shape rule of every op gives
 * the rest. In evaluation there are no batch statistics and no dropout. Then everything is dropped that
 * neither the output nor a running statistic needs, down to single planes: the last block of a LINet gives streams
 * that nobody reads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "compile/program.h"

/* ---- Tensors of the graph's planes --------------------------------------------------------- */

static plane_shape input_shape(const program *p, const graph_plane *plane) {
    const program_options *o = &p->options;
    if (plane->is_image) {
        return (plane_shape){o->dtype, 4, {o->batch, o->size[0], o->size[1], plane->channels}, plane->channels};
    }
    return (plane_shape){o->dtype, 2, {o->batch, plane->channels}, plane->channels};
}

static braid_status add_planes(program *p) {
    const graph *g = p->graph;
    for (int j = 0; j < g->plane_count; j++) {
        const graph_plane *plane = &g->planes[j];
        plane_shape shape = input_shape(p, plane);
        int index;
        TRY(program_add_tensor(p, plane->kind == PLANE_INPUT ? &shape : NULL, &index));
        tensor *t = &p->tensors[index];
        t->plane = j;
        t->is_wanted = plane->kind == PLANE_PARAMETER;
        t->is_kept = plane->kind == PLANE_INPUT || plane->kind == PLANE_MASK;
        if (plane->kind == PLANE_PARAMETER || plane->kind == PLANE_STATE) t->home = HOME_MODEL;
    }
    return BRAID_OK;
}

static braid_status check_sizes(const program *p) {
    const program_options *o = &p->options;
    for (int j = 0; j < p->graph->plane_count; j++) {
        const graph_plane *plane = &p->graph->planes[j];
        if (plane->kind != PLANE_INPUT || !plane->is_image || (o->size[0] > 0 && o->size[1] > 0)) continue;
        return fail(BRAID_ERROR_ARGUMENT, "plan: expected a height and a width for the images of %s, got %lldx%lld",
                    plane->name, (long long)o->size[0], (long long)o->size[1]);
    }
    if (o->batch < 1)
        return fail(BRAID_ERROR_ARGUMENT, "plan: expected a batch of 1 or more, got %lld", (long long)o->batch);
    return BRAID_OK;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

static int64_t rows_of(const tensor *t) { return t->shape.rank ? t->shape.dims[0] : 0; }

/* The rows and columns of a parameter that is used as a matrix. */
static braid_status shape_parameter(program *p, int index) {
    tensor *t = &p->tensors[index];
    const graph_plane *plane = &p->graph->planes[index];
    if (t->shape.rank || t->home != HOME_MODEL || plane->rank != 2) return BRAID_OK;
    t->shape = (plane_shape){p->options.dtype, 2, {plane->dims[0], plane->dims[1]}, plane->dims[1]};
    t->bytes = (size_t)(plane->dims[0] * plane->dims[1]) * dtype_bytes(p->options.dtype);
    return BRAID_OK;
}

static braid_status add_view(program *p, int x, int y) {
    const tensor *from = &p->tensors[x];
    tensor *to = &p->tensors[y];
    call c = call_start(p, BRAID_OP_ADD, BRAID_PASS_FWD, NULL);
    int64_t elements = 1, channels = p->graph->planes[y].channels;
    for (int axis = 0; axis < from->shape.rank; axis++) elements *= from->shape.dims[axis];
    if (channels < 1 || elements % channels) {
        return fail(BRAID_ERROR_ARGUMENT, "reshape: expected rows of %lld values, got %lld values in all",
                    (long long)channels, (long long)elements);
    }
    to->shape = (plane_shape){from->shape.dtype, 2, {elements / channels, channels}, channels};
    to->bytes = from->bytes;
    to->root = from->root;
    c.is_view = 1;
    c.natural = 0;
    c.tensor[0][0] = x;
    c.tensor[1][0] = y;
    return program_append(p, &c);
}

/* y is x itself: dropout in evaluation, a cast to the same format. */
static braid_status add_same(program *p, const graph_node *n, const int slots[2]) {
    for (int i = 0; i < n->problem.streams; i++) {
        int x = n->plane[slots[0]][i], y = n->plane[slots[1]][i];
        call c = call_start(p, BRAID_OP_ADD, BRAID_PASS_FWD, NULL);
        p->tensors[y].shape = p->tensors[x].shape;
        p->tensors[y].bytes = p->tensors[x].bytes;
        p->tensors[y].root = p->tensors[x].root;
        c.is_view = 1;
        c.natural = 0;
        c.tensor[0][0] = x;
        c.tensor[1][0] = y;
        TRY(program_append(p, &c));
    }
    return BRAID_OK;
}

/* Batch and size of the problem, from the plane that it is like. */
static void take_size(const program *p, const graph_node *n, braid_problem *problem) {
    const tensor *like = &p->tensors[n->like];
    uint64_t has = op_of(problem)->fields;
    if (has & FIELD_BIT(b)) problem->batch = rows_of(like);
    for (int axis = 0; axis < 2 && (has & FIELD_BIT(hw)); axis++)
        problem->size[axis] = like->shape.rank == 4 ? like->shape.dims[1 + axis] : 1;
}

static int mask_slot(const graph_node *n) {
    int slot = op_slot(op_find(n->problem.op), "mask");
    return slot >= 0 && n->plane[slot][0] >= 0 ? slot : -1;
}

static braid_status add_op(program *p, const graph_node *n) {
    call c = call_start(p, n->problem.op, BRAID_PASS_FWD, &n->problem);
    const op_info *o = op_of(&c.problem);
    int eval = p->options.phase == BRAID_PHASE_EVAL;
    take_size(p, n, &c.problem);
    if (o->fields & FIELD_BIT(phase)) c.problem.phase = p->options.phase;
    if (n->problem.op == BRAID_OP_CAST) c.problem.to = dtype_statistics(p->options.dtype);
    c.problem.mask = p->options.mask && mask_slot(n) >= 0;
    if (c.problem.mask && rows_of(&p->tensors[n->like]) != p->options.batch)
        return fail(
            BRAID_ERROR_ARGUMENT,
            "%s: expected one row for each of the %lld samples where samples may be blanked, got %lld rows; plan "
            "this network without mask",
            o->name, (long long)p->options.batch, (long long)rows_of(&p->tensors[n->like]));
    for (int slot = 0; slot < op_operand_count(o); slot++) call_bind(&c, slot, n->plane[slot], BRAID_MAX_PLANES);
    if (n->problem.op == BRAID_OP_BN_FINALIZE && eval) { /* the statistics of a batch are not asked for */
        call_bind(&c, BN_FINALIZE_MEAN, n->plane[BN_FINALIZE_RUNNING_MEAN], BRAID_MAX_PLANES);
        call_bind(&c, BN_FINALIZE_VAR, n->plane[BN_FINALIZE_RUNNING_VAR], BRAID_MAX_PLANES);
        c.problem.each = 0; /* nor is the batch counted */
    }
    return program_add_call(p, &c);
}

static braid_status add_node(program *p, const graph_node *n) {
    int eval = p->options.phase == BRAID_PHASE_EVAL,
        same_format = dtype_statistics(p->options.dtype) == p->options.dtype;
    TRY(shape_parameter(p, n->like));
    if (n->is_view) return add_view(p, n->plane[0][0], n->plane[1][0]);
    switch (n->problem.op) {
        case BRAID_OP_BN_STATS: return eval ? BRAID_OK : add_op(p, n);
        case BRAID_OP_DROPOUT: return eval ? add_same(p, n, (int[2]){DROPOUT_X, DROPOUT_Y}) : add_op(p, n);
        case BRAID_OP_CAST: return same_format ? add_same(p, n, (int[2]){CAST_X, CAST_Y}) : add_op(p, n);
        default: return add_op(p, n);
    }
}

/* ---- What nobody needs --------------------------------------------------------------------- */

/* Marks the tensor and what it is a view of. */
static void mark(const program *p, int *live, int index) {
    if (index < 0) return;
    live[index] = 1;
    live[p->tensors[index].root] = 1;
}

/* 1 where a call moves a running statistic. */
static int has_effect(const program *p, const call *c) {
    return c->problem.op == BRAID_OP_BN_FINALIZE && p->options.phase == BRAID_PHASE_TRAIN && !c->is_view;
}

/* Which planes of a call somebody needs; returns how many. */
static int find_needed(const program *p, const call *c, const int *live, int *keep) {
    const op_info *o = op_of(&c->problem);
    int needed = 0;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        keep[i] = 0;
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            int output = op_is_output(op_role(&c->problem, slot)), index = c->tensor[slot][i];
            if (output && index >= 0 && i < o->planes(&c->problem, slot) && p->tensors[index].home == HOME_PLACED)
                keep[i] |= live[index];
        }
        needed += keep[i];
    }
    return needed;
}

static void mark_inputs(const program *p, const call *c, int *live) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!op_is_input(op_role(&c->problem, slot))) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++) mark(p, live, c->tensor[slot][i]);
    }
}

/* 1 where the call stays, narrowed to what is needed. */
static int trim_call(const program *p, call *c, int *live) {
    int keep[BRAID_MAX_PLANES];
    if (c->is_view) {
        if (live[c->tensor[1][0]]) mark(p, live, c->tensor[0][0]);
        return live[c->tensor[1][0]];
    }
    int needed = find_needed(p, c, live, keep);
    if (!needed && !has_effect(p, c)) return 0;
    if (needed < c->problem.streams && call_is_by_plane(c) && !has_effect(p, c)) call_narrow(c, keep);
    mark_inputs(p, c, live);
    return 1;
}

static braid_status trim(program *p) {
    int *live = NULL, kept = p->call_count;
    TRY(memory_calloc((size_t)p->tensor_count, sizeof *live, "live tensors", (void **)&live));
    mark(p, live, p->output);
    for (int j = p->call_count - 1; j >= 0; j--) {
        call c = p->calls[j];
        if (trim_call(p, &c, live)) p->calls[--kept] = c;
    }
    p->call_count -= kept;
    for (int j = 0; j < p->call_count; j++) p->calls[j] = p->calls[kept + j];
    memory_free(live);
    return BRAID_OK;
}

/* ---- Norms of running statistics ------------------------------------------------------------- */

static int is_norm(const call *c) { return !c->is_view && c->problem.op == BRAID_OP_BN_FINALIZE; }

static int fits(const call *to, const call *c) {
    return to->problem.eps == c->problem.eps && to->problem.momentum == c->problem.momentum &&
           to->problem.average == c->problem.average && to->problem.mask == c->problem.mask &&
           to->problem.streams + c->problem.streams <= BRAID_MAX_PLANES;
}

static void append_planes(call *to, const call *c) {
    for (int i = 0; i < c->problem.streams; i++) {
        const int at = to->problem.streams + i;
        for (int slot = 0; slot < op_operand_count(op_of(&c->problem)); slot++) {
            if (slot != BN_FINALIZE_BATCHES) to->tensor[slot][at] = c->tensor[slot][i];
        }
        to->problem.in_channels[at] = c->problem.in_channels[i];
        to->problem.in_pitch[at] = c->problem.in_pitch[i];
    }
    to->problem.streams += c->problem.streams;
    to->natural += c->natural;
}

/* For evaluation scale and shift come from parameters and states alone: the norms of all layers are few calls. */
static void gather_norms(program *p) {
    int kept = 0, open = -1;
    for (int j = 0; j < p->call_count; j++) {
        const call c = p->calls[j];
        if (is_norm(&c) && open >= 0 && fits(&p->calls[open], &c)) {
            append_planes(&p->calls[open], &c);
            continue;
        }
        if (is_norm(&c)) open = kept;
        p->calls[kept++] = c;
    }
    p->call_count = kept;
}

braid_status program_infer(program *p) {
    TRY(check_sizes(p));
    TRY(add_planes(p));
    for (int j = 0; j < p->graph->node_count; j++) TRY(add_node(p, &p->graph->nodes[j]));
    if (p->graph->output.count != 1)
        return fail(BRAID_ERROR_ARGUMENT, "plan: expected a network with an output of one stream, got %d",
                    p->graph->output.count);
    p->output = p->graph->output.plane[0];
    p->tensors[p->tensors[p->output].root].is_kept = 1;
    TRY(trim(p));
    if (p->options.phase == BRAID_PHASE_EVAL) gather_norms(p);
    return BRAID_OK;
}
