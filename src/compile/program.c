/*
 * What the stages of a program share: tensors and calls, and how they are added and checked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compile/program.h"

#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "ops/problem.h"

braid_status program_build(const graph *g, const program_options *options, program *p) {
    *p = (program){.graph = g, .options = *options};
    p->output = p->labels = p->weights = p->loss = p->correct = p->loss_scale = -1;
    TRY(graph_status(g));
    TRY(program_infer(p));
    program_fuse_forward(p);
    TRY(program_reorder(p));
    TRY(program_differentiate(p));
    program_fuse_backward(p);
    return program_recompute(p);
}

void program_free(program *p) {
    memory_free(p->tensors);
    memory_free(p->calls);
    *p = (program){0};
}

int program_count_uses(const program *p, int first, int end, int root, int (*has_role)(operand_role role)) {
    int count = 0;
    for (int j = first; j < end; j++) {
        const call *c = &p->calls[j];
        const op_info *o = op_of(&c->problem);
        const int slots = c->is_absorbed || c->is_view ? 0 : op_operand_count(o);
        for (int slot = 0; slot < slots; slot++) {
            const int planes = has_role(op_role(&c->problem, slot)) ? o->planes(&c->problem, slot) : 0;
            for (int i = 0; i < planes; i++) count += p->tensors[c->tensor[slot][i]].root == root;
        }
    }
    return count;
}

int program_may_move(const program *p, const call *c, int first, int end) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        const operand_role role = op_role(&c->problem, slot);
        for (int i = 0; role != ROLE_NONE && i < o->planes(&c->problem, slot); i++) {
            const int root = p->tensors[c->tensor[slot][i]].root;
            if (program_count_uses(p, first, end, root, op_is_output)) return 0;
            if (op_is_output(role) && program_count_uses(p, first, end, root, op_is_input)) return 0;
        }
    }
    return 1;
}

int program_ends_in_gradients(const program *p, int j, int end) {
    const call *c = &p->calls[j];
    const op_info *o = op_of(&c->problem);
    if (end > p->call_count) end = p->call_count;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!op_is_output(op_role(&c->problem, slot))) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++) {
            const int made = c->tensor[slot][i];
            if (p->tensors[made].home != HOME_GRADIENT || program_count_uses(p, j + 1, end, made, op_is_used)) return 0;
        }
    }
    return 1;
}

static braid_status shape_bytes_of(const plane_shape *s, size_t *bytes) {
    return size_tensor(s->dims, s->rank, s->pitch, s->dtype, "tensor", bytes);
}

braid_status program_add_tensor(program *p, const plane_shape *shape, int *index) {
    tensor t = {.plane = -1, .root = p->tensor_count};
    plane_shape own = shape ? *shape : t.shape; /* it may lie in the array that grows */
    TRY(memory_grow((void **)&p->tensors, (size_t)p->tensor_count, &p->tensor_room, sizeof *p->tensors, "tensors"));
    if (shape) {
        t.shape = own;
        TRY(shape_bytes_of(&own, &t.bytes));
    }
    p->tensors[p->tensor_count] = t;
    *index = p->tensor_count++;
    return BRAID_OK;
}

/* ---- Slots --------------------------------------------------------------------------------- */

int op_slot(const op_info *o, const char *name) {
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (strcmp(o->operands[slot].name, name) == 0) return slot;
    }
    return -1;
}

int op_slot_is_gradient(const op_info *o, int slot) { return o->operands[slot].name[0] == 'd'; }

/* ---- Calls --------------------------------------------------------------------------------- */

call call_start(const program *p, braid_op_id op, braid_pass pass, const braid_problem *from) {
    call c = {.problem = {.op = op, .pass = pass, .dtype = p->options.dtype}, .natural = 1};
    c.segment = pass == BRAID_PASS_FWD ? BRAID_SEGMENT_FORWARD : BRAID_SEGMENT_BACKWARD;
    for (int j = 0; from && j < FIELD_COUNT; j++) {
        if (!(op_find(op)->fields & op_find(from->op)->fields & UINT64_C(1) << j)) continue;
        memcpy((char *)&c.problem + fields[j].offset, (const char *)from + fields[j].offset,
               field_bytes(fields[j].kind));
    }
    c.problem.tf32 = p->options.tf32 && (op_find(op)->fields & FIELD_BIT(tf32));
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) c.tensor[slot][i] = -1;
    }
    return c;
}

void call_bind(call *c, int slot, const int *tensors, int count) {
    for (int i = 0; i < count; i++) c->tensor[slot][i] = tensors[i];
}

int call_is_by_plane(const call *c) {
    const op_info *o = op_of(&c->problem);
    if (c->is_view) return 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (op_role(&c->problem, slot) != ROLE_NONE && o->planes(&c->problem, slot) != c->problem.streams) return 0;
    }
    return 1;
}

/* Drops the elements of a row of BRAID_MAX_PLANES whose keep is 0. */
static void narrow_list(int64_t *list, const int *keep) {
    int kept = 0;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        if (keep[i]) list[kept++] = list[i];
    }
    while (kept < BRAID_MAX_PLANES) list[kept++] = 0;
}

static void narrow_tensors(int *list, const int *keep) {
    int kept = 0;
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        if (keep[i]) list[kept++] = list[i];
    }
    while (kept < BRAID_MAX_PLANES) list[kept++] = -1;
}

void call_narrow(call *c, const int *keep) {
    int streams = 0;
    for (int j = 0; j < FIELD_COUNT; j++) {
        if (fields[j].kind == FIELD_KIND_LIST) narrow_list((void *)((char *)&c->problem + fields[j].offset), keep);
    }
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) narrow_tensors(c->tensor[slot], keep);
    for (int i = 0; i < c->problem.streams; i++) streams += keep[i] != 0;
    c->problem.streams = streams;
}

static int64_t elements_of(const plane_shape *s) {
    int64_t count = 1;
    for (int axis = 0; axis < s->rank; axis++) count *= s->dims[axis];
    return count;
}

/* Gives a tensor its shape, or compares the one it has with what the call needs. */
static braid_status settle(program *p, const call *c, int slot, int i) {
    const op_info *o = op_of(&c->problem);
    tensor *t = &p->tensors[c->tensor[slot][i]];
    const graph_plane *plane = t->plane >= 0 && t->home == HOME_MODEL ? &p->graph->planes[t->plane] : NULL;
    plane_shape shape;
    o->shape(&c->problem, slot, i, &shape);
    int64_t expected = elements_of(&shape);
    int64_t got = plane ? plane_elements(plane) : t->shape.rank ? elements_of(&t->shape) : expected;
    if (expected != got || (t->shape.rank && t->shape.dtype != shape.dtype)) {
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected %s%s%s of stream %d with %lld values in %s, got %lld in %s",
                    o->name, op_operand_name(&c->problem, slot), plane ? " " : "", plane ? plane->name : "", i,
                    (long long)expected, braid_dtype_name(shape.dtype), (long long)got,
                    braid_dtype_name(t->shape.rank ? t->shape.dtype : shape.dtype));
    }
    if (t->shape.rank) return BRAID_OK;
    t->shape = shape;
    return shape_bytes_of(&shape, &t->bytes);
}

braid_status program_add_call(program *p, call *c) {
    TRY(braid_problem_check(&c->problem));
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        operand_role role = op_role(&c->problem, slot);
        for (int i = 0; role != ROLE_NONE && i < o->planes(&c->problem, slot); i++) {
            if (c->tensor[slot][i] < 0 && !op_is_output(role))
                return fail(BRAID_ERROR_ARGUMENT, "%s: expected a tensor for %s of stream %d, got none", o->name,
                            op_operand_name(&c->problem, slot), i);
            if (c->tensor[slot][i] < 0) TRY(program_add_tensor(p, NULL, &c->tensor[slot][i]));
            TRY(settle(p, c, slot, i));
        }
    }
    return program_append(p, c);
}

braid_status program_append(program *p, const call *c) {
    call copy = *c; /* it may lie in the array that grows */
    TRY(memory_grow((void **)&p->calls, (size_t)p->call_count, &p->call_room, sizeof *p->calls, "calls"));
    p->calls[p->call_count++] = copy;
    return BRAID_OK;
}

/* Where the ops that make scales have them, and what belongs to them. */
typedef struct norm_slots {
    braid_op_id op;
    int scale, center, rstd, gamma, beta;
} norm_slots;

static const norm_slots *slots_of_norm(braid_op_id op) {
    static const norm_slots slots[] = {
        {BRAID_OP_BN_FINALIZE, BN_FINALIZE_SCALE, BN_FINALIZE_CENTER, BN_FINALIZE_RSTD, BN_FINALIZE_GAMMA,
         BN_FINALIZE_BETA},
        {BRAID_OP_BN_STATS_FINALIZE, BN_STATS_FINALIZE_SCALE, BN_STATS_FINALIZE_CENTER, BN_STATS_FINALIZE_RSTD,
         BN_STATS_FINALIZE_GAMMA, BN_STATS_FINALIZE_BETA},
        {BRAID_OP_INTEGRATE_BN_STATS, INTEGRATE_BN_STATS_SCALE, INTEGRATE_BN_STATS_CENTER, INTEGRATE_BN_STATS_RSTD,
         INTEGRATE_BN_STATS_GAMMA, INTEGRATE_BN_STATS_BETA},
        {BRAID_OP_CONV2D_BN_STATS, CONV2D_BN_STATS_SCALE, CONV2D_BN_STATS_CENTER, CONV2D_BN_STATS_RSTD,
         CONV2D_BN_STATS_GAMMA, CONV2D_BN_STATS_BETA},
    };
    for (size_t j = 0; j < sizeof slots / sizeof slots[0]; j++) {
        if (slots[j].op == op) return &slots[j];
    }
    return NULL;
}

norm_tensors program_norm(const program *p, int scale) {
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        const norm_slots *slots = c->is_view || c->is_absorbed ? NULL : slots_of_norm(c->problem.op);
        for (int k = 0; slots && k < op_of(&c->problem)->planes(&c->problem, slots->scale); k++) {
            if (c->tensor[slots->scale][k] != scale) continue;
            return (norm_tensors){c->tensor[slots->center][k], c->tensor[slots->rstd][k], c->tensor[slots->gamma][k],
                                  c->tensor[slots->beta][k]};
        }
    }
    return (norm_tensors){-1, -1, -1, -1};
}
