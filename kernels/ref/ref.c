/*
 * Turns element functions into whole outputs. Halves are converted to float in the workspace, run
 * there and rounded once on the way back; lanes between the channels and the pitch become zero.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"

typedef struct reference {
    braid_op_id op;
    braid_pass pass;
    ref_at f32, f64;
} reference;

#define REFERENCE(OP, PASS, stem)                                                                   \
    ref_value stem##_f32(const braid_problem *p, const buffers *b, int slot, int i, int64_t index); \
    ref_value stem##_f64(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);
#define KERNEL(...)
#include "kernels/kernels.def"
#undef REFERENCE

#define REFERENCE(OP, PASS, stem) {BRAID_OP_##OP, BRAID_PASS_##PASS, stem##_f32, stem##_f64},
static const reference references[] = {
#include "kernels/kernels.def"
};
#undef REFERENCE
#undef KERNEL

static const reference *find(braid_op_id id, braid_pass pass) {
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        if (references[i].op == id && references[i].pass == pass) return &references[i];
    }
    return NULL;
}

ref_at ref_at_f64(braid_op_id id, braid_pass pass) {
    const reference *r = find(id, pass);
    return r ? r->f64 : NULL;
}

int64_t ref_offset(const plane_shape *s, int64_t index) {
    int64_t last = s->dims[s->rank - 1];
    return index / last * s->pitch + index % last;
}

/* ---- The whole output --------------------------------------------------------------------- */

#define ELEMENTS_PER_PART 256

typedef struct whole {
    const braid_problem *p;
    const buffers *b;
    ref_at at;
    int slot, plane;
    plane_shape shape;
    braid_dtype dtype; /* of the output in b */
    int64_t elements;
} whole;

static void run_part(void *context, int64_t part) {
    const whole *w = context;
    int64_t end = (part + 1) * ELEMENTS_PER_PART < w->elements ? (part + 1) * ELEMENTS_PER_PART : w->elements;
    int64_t last = w->shape.dims[w->shape.rank - 1];
    void *out = w->b->plane[w->slot][w->plane];
    for (int64_t index = part * ELEMENTS_PER_PART; index < end; index++) {
        int64_t to = ref_offset(&w->shape, index);
        dtype_store(out, w->dtype, to, w->at(w->p, w->b, w->slot, w->plane, index).value);
        for (int64_t lane = last; index % last == last - 1 && lane < w->shape.pitch; lane++) {
            dtype_store(out, w->dtype, to + 1 + lane - last, 0);
        }
    }
}

static braid_status run_whole(const braid_problem *p, ref_at at, const buffers *b) {
    const op_info *o = op_of(p);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        if (!op_is_output(op_role(p, slot))) continue;
        for (int i = 0; i < o->planes(p, slot); i++) {
            whole w = {.p = p, .b = b, .at = at, .slot = slot, .plane = i};
            o->shape(p, slot, i, &w.shape);
            w.dtype =
                w.shape.dtype == BRAID_DTYPE_F16 || w.shape.dtype == BRAID_DTYPE_BF16 ? BRAID_DTYPE_F32 : w.shape.dtype;
            TRY(size_elements(w.shape.dims, w.shape.rank, "output", &w.elements));
            threads_for((w.elements + ELEMENTS_PER_PART - 1) / ELEMENTS_PER_PART, run_part, &w);
        }
    }
    return BRAID_OK;
}

/* ---- Halves ------------------------------------------------------------------------------- */

static int is_half(braid_dtype dtype) { return dtype == BRAID_DTYPE_F16 || dtype == BRAID_DTYPE_BF16; }

/* Calls visit for every plane of a half operand, with its place in the workspace. */
static braid_status each_half(const braid_problem *p,
                              braid_status (*visit)(void *context, int slot, int i, const plane_shape *s,
                                                    size_t offset),
                              void *context, size_t *bytes) {
    const op_info *o = op_of(p);
    *bytes = 0;
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_role(p, slot) != ROLE_NONE && i < o->planes(p, slot); i++) {
            plane_shape s;
            size_t need;
            o->shape(p, slot, i, &s);
            if (!is_half(s.dtype)) continue;
            TRY(size_tensor(s.dims, s.rank, s.pitch, BRAID_DTYPE_F32, "reference workspace", &need));
            if (visit) TRY(visit(context, slot, i, &s, *bytes));
            if (!size_add(*bytes, need, bytes) || !size_align(*bytes, MEMORY_DEVICE_ALIGNMENT, bytes)) {
                return fail(BRAID_ERROR_MEMORY, "reference workspace: expected a size that fits in 64 bits");
            }
        }
    }
    return BRAID_OK;
}

typedef struct halves {
    const braid_problem *p;
    const buffers *from; /* in the dtype of the problem */
    buffers *to;         /* in float */
} halves;

static int64_t stored_elements(const plane_shape *s) {
    int64_t rows = 1;
    for (int axis = 0; axis + 1 < s->rank; axis++) rows *= s->dims[axis];
    return rows * s->pitch;
}

static braid_status widen(void *context, int slot, int i, const plane_shape *s, size_t offset) {
    const halves *h = context;
    h->to->plane[slot][i] = (char *)h->from->workspace + offset;
    if (op_is_input(op_role(h->p, slot))) {
        dtype_to_f32(h->to->plane[slot][i], h->from->plane[slot][i], s->dtype, stored_elements(s));
    }
    return BRAID_OK;
}

static braid_status narrow(void *context, int slot, int i, const plane_shape *s, size_t offset) {
    const halves *h = context;
    (void)offset;
    if (op_is_output(op_role(h->p, slot))) {
        dtype_from_f32(h->from->plane[slot][i], s->dtype, h->to->plane[slot][i], stored_elements(s));
    }
    return BRAID_OK;
}

/* ---- The kernel --------------------------------------------------------------------------- */

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return find(p->op, p->pass) ? NULL : "this op and pass has no reference";
}

static double cost(const braid_problem *p) { return op_of(p)->flops(p) / 5e8; }

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return each_half(p, NULL, NULL, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const reference *r = find(p->op, p->pass);
    (void)d;
    (void)state;
    if (p->dtype == BRAID_DTYPE_F64) return run_whole(p, r->f64, b);
    buffers wide = *b;
    halves h = {.p = p, .from = b, .to = &wide};
    size_t bytes;
    TRY(each_half(p, widen, &h, &bytes));
    TRY(run_whole(p, r->f32, &wide));
    return each_half(p, narrow, &h, &bytes);
}

static void destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

const kernel_functions ref_functions = {supports, cost, create, launch, destroy};
