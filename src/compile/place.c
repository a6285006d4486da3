/*
 * A place for every tensor: those that live at the same time do not overlap, all others may. Largest first, each
 * at the lowest place that is free for its whole life; what a call needs as workspace is a tensor that lives for
 * one call, until the parts that it left there are added, or for ever where it keeps something. What a call that may
 * lag touches lives on until it must have ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "compile/program.h"

/* Something to be placed. */
typedef struct piece {
    size_t bytes, *offset;
    int first, last, index;
} piece;

static void find_lives(program *p) {
    for (int t = 0; t < p->tensor_count; t++) {
        p->tensors[t].first = p->tensors[t].is_kept ? INT_MIN : INT_MAX;
        p->tensors[t].last = p->tensors[t].is_kept ? INT_MAX : INT_MIN;
    }
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        const op_info *o = op_of(&c->problem);
        for (int slot = 0; slot < op_operand_count(o); slot++) {
            if (op_role(&c->problem, slot) == ROLE_NONE) continue;
            for (int i = 0; i < o->planes(&c->problem, slot); i++) {
                tensor *root = &p->tensors[p->tensors[c->tensor[slot][i]].root];
                if (j < root->first) root->first = j;
                if (j + c->lag > root->last) root->last = j + c->lag;
            }
        }
    }
}

/* Larger ones first; among equals the order of the program, so that places depend on nothing else. */
static int compare(const void *a, const void *b) {
    const piece *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_offsets(const void *a, const void *b) {
    const piece *const *x = a, *const *y = b;
    if (*(*x)->offset != *(*y)->offset) return *(*x)->offset < *(*y)->offset ? -1 : 1;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

/* The lowest place for a piece between those of `placed` that live while it does. */
static braid_status find_place(const piece *one, const piece **beside, int count) {
    size_t at = 0, end;
    qsort((void *)beside, (size_t)count, sizeof *beside, compare_offsets);
    for (int j = 0; j < count; j++) {
        if (*beside[j]->offset >= at && *beside[j]->offset - at >= one->bytes) break;
        if (!size_add(*beside[j]->offset, beside[j]->bytes, &end))
            return fail(BRAID_ERROR_MEMORY, "plan: expected memory that fits in 64 bits, got more");
        if (end > at) at = end;
    }
    *one->offset = at;
    return BRAID_OK;
}

static braid_status place_pieces(program *p, piece *pieces, int count) {
    const piece **beside = NULL;
    braid_status status = memory_alloc((size_t)count, sizeof *beside, "places", (void **)&beside);
    qsort(pieces, (size_t)count, sizeof *pieces, compare);
    for (int j = 0; j < count && !status; j++) {
        int n = 0;
        size_t end;
        for (int k = 0; k < j; k++) {
            if (pieces[k].first <= pieces[j].last && pieces[j].first <= pieces[k].last) beside[n++] = &pieces[k];
        }
        status = find_place(&pieces[j], beside, n);
        if (!status && !size_add(*pieces[j].offset, pieces[j].bytes, &end))
            status = fail(BRAID_ERROR_MEMORY, "plan: expected memory that fits in 64 bits, got more");
        if (!status && end > p->arena_bytes) p->arena_bytes = end;
    }
    memory_free((void *)beside);
    return status;
}

braid_status program_place(program *p, const size_t *workspace_bytes, size_t *workspace_offset) {
    piece *pieces = NULL;
    int count = 0;
    braid_status status = BRAID_OK;
    find_lives(p);
    p->arena_bytes = p->sum_bytes = 0;
    TRY(memory_calloc((size_t)p->tensor_count + (size_t)p->call_count, sizeof *pieces, "places", (void **)&pieces));
    for (int t = 0; t < p->tensor_count; t++) {
        tensor *one = &p->tensors[t];
        if (one->home != HOME_PLACED || one->root != t || one->first > one->last || !one->bytes) continue;
        pieces[count++] = (piece){one->bytes, &one->offset, one->first, one->last, t};
    }
    for (int j = 0; j < p->call_count; j++) {
        workspace_offset[j] = 0;
        if (!workspace_bytes[j]) continue;
        const call *c = &p->calls[j];
        int first = c->keeps ? INT_MIN : j, last = c->keeps ? INT_MAX : j + (c->holds > c->lag ? c->holds : c->lag);
        pieces[count++] = (piece){workspace_bytes[j], &workspace_offset[j], first, last, p->tensor_count + j};
    }
    for (int j = 0; j < count && !status; j++) {
        if (!size_align(pieces[j].bytes, MEMORY_DEVICE_ALIGNMENT, &pieces[j].bytes) ||
            !size_add(p->sum_bytes, pieces[j].bytes, &p->sum_bytes))
            status = fail(BRAID_ERROR_MEMORY, "plan: expected memory that fits in 64 bits, got more");
    }
    if (!status) status = place_pieces(p, pieces, count);
    memory_free(pieces);
    return status;
}
