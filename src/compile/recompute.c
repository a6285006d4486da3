/*
 * What is made again instead of kept. The result of a cheap op (ops/op.h: is_cheap) that the backward segment
 * reads is made a second time just before, where everything that it is made of is there anyway: between
 * the segments it needs no memory. In a ResNet that is every activation whose raw convolution output is
 * kept for the normalisation's gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "compile/program.h"

/* The calls [0, count) with those that are done by others left out. */
static void compact(program *p) {
    int kept = 0;
    for (int j = 0; j < p->call_count; j++) {
        if (!p->calls[j].is_absorbed && !p->calls[j].is_view) p->calls[kept++] = p->calls[j];
    }
    p->call_count = kept;
}

/* 1 where call c reads memory of the tensor. */
static int reads(const program *p, const call *c, int root) {
    const op_info *o = op_of(&c->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!op_is_input(op_role(&c->problem, slot))) continue;
        for (int i = 0; i < o->planes(&c->problem, slot); i++) {
            if (p->tensors[c->tensor[slot][i]].root == root) return 1;
        }
    }
    return 0;
}

/* The first and the last backward call that reads an output of forward call f; first is -1: none does. */
static void backward_readers(const program *p, const call *f, int *first) {
    const op_info *o = op_of(&f->problem);
    *first = -1;
    for (int j = 0; j < p->call_count && *first < 0; j++) {
        if (p->calls[j].segment != BRAID_SEGMENT_BACKWARD) continue;
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            if (op_role(&f->problem, slot) != ROLE_OUT) continue;
            for (int i = 0; i < o->planes(&f->problem, slot); i++) {
                if (reads(p, &p->calls[j], p->tensors[f->tensor[slot][i]].root)) *first = j;
            }
        }
    }
}

/* 1 where a tensor is there at call `at` in any case. */
static int is_there(const program *p, int index, int at) {
    const tensor *root = &p->tensors[p->tensors[index].root];
    if (root->home != HOME_PLACED || root->is_kept) return 1;
    for (int j = at; j < p->call_count; j++) {
        if (reads(p, &p->calls[j], p->tensors[index].root)) return 1;
    }
    return 0;
}

static int is_worth_it(const program *p, const call *f, int at) {
    const op_info *o = op_of(&f->problem);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        operand_role role = op_role(&f->problem, slot);
        for (int i = 0; role != ROLE_NONE && i < o->planes(&f->problem, slot); i++) {
            const tensor *t = &p->tensors[f->tensor[slot][i]];
            if (op_is_output(role) && (p->tensors[t->root].is_kept || t->root != f->tensor[slot][i])) return 0;
            if (op_is_input(role) && !is_there(p, f->tensor[slot][i], at)) return 0;
        }
    }
    return 1;
}

/* Tensors whose memory was `old` and that are read from call `from` on become `fresh` and views of it. */
static braid_status redirect(program *p, int old, int fresh, int from) {
    for (int j = from; j < p->call_count; j++) {
        call *c = &p->calls[j];
        const op_info *o = op_of(&c->problem);
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            if (!op_is_input(op_role(&c->problem, slot))) continue;
            for (int i = 0; i < o->planes(&c->problem, slot); i++) {
                int t = c->tensor[slot][i], view;
                if (p->tensors[t].root != old) continue;
                if (t == old) {
                    c->tensor[slot][i] = fresh;
                    continue;
                }
                TRY(program_add_tensor(p, &p->tensors[t].shape, &view));
                p->tensors[view].root = fresh;
                c->tensor[slot][i] = view;
            }
        }
    }
    return BRAID_OK;
}

static braid_status insert(program *p, const call *c, int at) {
    TRY(program_append(p, c));
    call last = p->calls[p->call_count - 1];
    for (int j = p->call_count - 1; j > at; j--) p->calls[j] = p->calls[j - 1];
    p->calls[at] = last;
    return BRAID_OK;
}

static braid_status recompute(program *p, const call *f, int at) {
    const op_info *o = op_of(&f->problem);
    call again = *f;
    again.segment = BRAID_SEGMENT_BACKWARD;
    again.natural = 0;
    again.made_again = 1;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (op_role(&f->problem, slot) != ROLE_OUT) continue;
        for (int i = 0; i < o->planes(&f->problem, slot); i++) {
            plane_shape shape = p->tensors[f->tensor[slot][i]].shape;
            TRY(program_add_tensor(p, &shape, &again.tensor[slot][i]));
            TRY(redirect(p, f->tensor[slot][i], again.tensor[slot][i], at));
        }
    }
    return insert(p, &again, at);
}

braid_status program_recompute(program *p) {
    compact(p);
    for (int j = p->call_count - 1; j >= 0; j--) {
        call f = p->calls[j];
        int at;
        if (f.segment != BRAID_SEGMENT_FORWARD || !op_of(&f.problem)->is_cheap || p->options.keep_all) continue;
        backward_readers(p, &f, &at);
        if (at >= 0 && is_worth_it(p, &f, at)) TRY(recompute(p, &f, at));
    }
    return BRAID_OK;
}
