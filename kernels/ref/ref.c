/*
 * Turns element functions into whole outputs. Halves are converted to float in the workspace, run
 * there and rounded once on the way back; lanes between the channels and the pitch become zero.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/ref.h"

#include <math.h>
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
#define CHAIN(...)
#include "kernels/kernels.def"
#undef REFERENCE

#define REFERENCE(OP, PASS, stem) {BRAID_OP_##OP, BRAID_PASS_##PASS, stem##_f32, stem##_f64},
static const reference references[] = {
#include "kernels/kernels.def"
};
#undef REFERENCE
#undef KERNEL
#undef CHAIN

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
    const buffers *from;
    void *out;
    ref_at at;
    int slot, plane;
    plane_shape shape; /* of the output; halves as float */
    int64_t elements;
} whole;

static void run_part(void *context, int64_t part) {
    const whole *w = context;
    int64_t end = (part + 1) * ELEMENTS_PER_PART < w->elements ? (part + 1) * ELEMENTS_PER_PART : w->elements;
    int64_t last = w->shape.dims[w->shape.rank - 1];
    for (int64_t index = part * ELEMENTS_PER_PART; index < end; index++) {
        int64_t to = ref_offset(&w->shape, index);
        dtype_store(w->out, w->shape.dtype, to, w->at(w->p, w->from, w->slot, w->plane, index).value);
        for (int64_t lane = last; index % last == last - 1 && lane < w->shape.pitch; lane++) {
            dtype_store(w->out, w->shape.dtype, to + 1 + lane - last, 0);
        }
    }
}

static int is_half(braid_dtype dtype) { return dtype == BRAID_DTYPE_F16 || dtype == BRAID_DTYPE_BF16; }

/* Calls the body for every plane of every operand that the problem has. */
#define EACH_PLANE(p, slot, i)                                    \
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) \
        for (int i = 0; op_role(p, slot) != ROLE_NONE && i < op_of(p)->planes(p, slot); i++)

/* Outputs that follow from one that is stored see it rounded. */
static void round_stored(const braid_problem *p, const whole *made) {
    plane_shape s;
    op_of(p)->shape(p, made->slot, 0, &s);
    for (int64_t index = 0; index < made->elements && is_half(s.dtype); index++) {
        float *value = (float *)made->out + ref_offset(&made->shape, index);
        *value = (float)dtype_round(s.dtype, *value);
    }
}

static braid_status run_whole(const braid_problem *p, ref_at at, const buffers *from, const buffers *to) {
    buffers seen = *from;
    EACH_PLANE(p, slot, i) {
        if (!op_is_output(op_role(p, slot))) continue;
        whole w = {.p = p, .from = &seen, .out = to->plane[slot][i], .at = at, .slot = slot, .plane = i};
        op_of(p)->shape(p, slot, i, &w.shape);
        if (is_half(w.shape.dtype)) w.shape.dtype = BRAID_DTYPE_F32;
        TRY(size_elements(w.shape.dims, w.shape.rank, "output", &w.elements));
        threads_for((w.elements + ELEMENTS_PER_PART - 1) / ELEMENTS_PER_PART, run_part, &w);
        if (slot == 0 || slot != op_of(p)->stored) continue;
        round_stored(p, &w);
        seen.plane[slot][i] = w.out;
    }
    return BRAID_OK;
}

/* ---- Planes that are read or written elsewhere --------------------------------------------- */

/* Takes room for one plane of the workspace. Returns its place there; NULL where only the bytes are counted. */
static braid_status take_room(const plane_shape *s, void *workspace, size_t *bytes, void **place) {
    size_t need;
    braid_dtype dtype = is_half(s->dtype) ? BRAID_DTYPE_F32 : s->dtype;
    *place = workspace ? (char *)workspace + *bytes : NULL;
    TRY(size_tensor(s->dims, s->rank, s->pitch, dtype, "reference workspace", &need));
    if (size_add(*bytes, need, bytes) && size_align(*bytes, MEMORY_DEVICE_ALIGNMENT, bytes)) return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY, "reference workspace: expected a size that fits in 64 bits");
}

/* Where the elements are read and written: halves as floats in the workspace, and operands that are read and
 * written from a copy, so that no element sees another one's result. b->workspace may be NULL to count the bytes. */
static braid_status place_planes(const braid_problem *p, const buffers *b, buffers *from, buffers *to, size_t *bytes) {
    *bytes = 0;
    *from = *to = *b;
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        operand_role role = op_role(p, slot);
        op_of(p)->shape(p, slot, i, &s);
        if (op_is_input(role) && (is_half(s.dtype) || op_is_output(role)))
            TRY(take_room(&s, b->workspace, bytes, &from->plane[slot][i]));
        if (op_is_output(role) && is_half(s.dtype)) TRY(take_room(&s, b->workspace, bytes, &to->plane[slot][i]));
    }
    return BRAID_OK;
}

static int64_t stored_elements(const plane_shape *s) {
    int64_t rows = 1;
    for (int axis = 0; axis + 1 < s->rank; axis++) rows *= s->dims[axis];
    return rows * s->pitch;
}

static void read_planes(const braid_problem *p, const buffers *b, const buffers *from) {
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        op_of(p)->shape(p, slot, i, &s);
        if (!op_is_input(op_role(p, slot)) || from->plane[slot][i] == b->plane[slot][i]) continue;
        if (is_half(s.dtype)) {
            dtype_to_f32(from->plane[slot][i], b->plane[slot][i], s.dtype, stored_elements(&s));
        } else {
            memcpy(from->plane[slot][i], b->plane[slot][i], (size_t)stored_elements(&s) * dtype_bytes(s.dtype));
        }
    }
}

static void write_planes(const braid_problem *p, const buffers *b, const buffers *to) {
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        op_of(p)->shape(p, slot, i, &s);
        if (op_is_output(op_role(p, slot)) && is_half(s.dtype))
            dtype_from_f32(b->plane[slot][i], s.dtype, to->plane[slot][i], stored_elements(&s));
    }
}

/* ---- The kernel --------------------------------------------------------------------------- */

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return find(p->op, p->pass) ? NULL : "this op and pass has no reference";
}

/* Every output makes all of its sums anew, also those that a kernel would make once for many outputs. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    double outputs = 0, flops = op_of(p)->flops(p);
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        double elements = 1;
        op_of(p)->shape(p, slot, i, &s);
        for (int axis = 0; axis < s.rank; axis++) elements *= (double)s.dims[axis];
        if (op_is_output(op_role(p, slot))) outputs += elements;
    }
    return fmax(flops, outputs * (double)op_of(p)->terms(p)) / 5e8;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const buffers none = {0};
    buffers from, to;
    (void)d;
    *state = NULL;
    return place_planes(p, &none, &from, &to, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const reference *r = find(p->op, p->pass);
    buffers from, to;
    size_t bytes;
    (void)d;
    (void)state;
    TRY(place_planes(p, b, &from, &to, &bytes));
    read_planes(p, b, &from);
    TRY(run_whole(p, p->dtype == BRAID_DTYPE_F64 ? r->f64 : r->f32, &from, &to));
    write_planes(p, b, &to);
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    (void)d;
    (void)state;
}

const kernel_functions ref_functions = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = destroy};
