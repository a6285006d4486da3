/*
 * Laying, filling and inspecting operand blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/blocks.h"
#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"

/* Calls the body for every plane of every operand that the problem has. */
#define EACH_PLANE(p, slot, i)                                    \
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) \
        for (int i = 0; op_role(p, slot) != ROLE_NONE && i < op_of(p)->planes(p, slot); i++)

static braid_status grow(size_t *bytes, size_t by) {
    if (size_add(*bytes, by, bytes) && size_align(*bytes, MEMORY_DEVICE_ALIGNMENT, bytes)) return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY, "operands: expected their sizes to add up to 64 bits");
}

braid_status image_lay(const braid_problem *p, image *out) {
    memset(out, 0, sizeof *out);
    EACH_PLANE(p, slot, i) {
        braid_operand_info info;
        TRY(op_operand_info(p, slot, &info));
        TRY(grow(&out->bytes, RED_ZONE_BYTES));
        out->offset[slot][i] = out->bytes;
        out->plane_bytes[slot][i] = info.bytes[i];
        TRY(grow(&out->bytes, info.bytes[i]));
    }
    return grow(&out->bytes, RED_ZONE_BYTES);
}

void image_buffers(const braid_problem *p, const image *m, void *base, buffers *out) {
    memset(out, 0, sizeof *out);
    EACH_PLANE(p, slot, i) { out->plane[slot][i] = (char *)base + m->offset[slot][i]; }
}

/* ---- Filling ------------------------------------------------------------------------------ */

typedef struct fill {
    const braid_problem *p;
    plane_shape shape;
    operand_fill kind;
    image_mode mode;
    double density; /* share of non-zero integers */
    double scale;   /* of real numbers */
    rng sequence;   /* start of this plane's numbers */
    void *data;
    int64_t rows, last, rows_each; /* of a part */
} fill;

static double draw_value(const fill *f, rng *r) {
    static const double powers[] = {0.5, 1, 2};
    switch (f->kind) {
        case FILL_POSITIVE: return f->mode == IMAGE_EXACT ? powers[rng_between(r, 0, 2)] : 0.5 + rng_uniform(r);
        case FILL_COUNTER: return (double)rng_between(r, 0, 9);
        default: return rng_uniform(r) < f->density ? (double)rng_between(r, -4, 4) : 0;
    }
}

static int is_normal(const fill *f) {
    return f->mode == IMAGE_REAL && f->kind != FILL_POSITIVE && f->kind != FILL_COUNTER;
}

/* Inputs are numbers of the kernel's type already, so that its products are exact. */
static void draw_normals(const fill *f, rng *r, double *values, int64_t count) {
    rng_normals(r, values, count);
    for (int64_t j = 0; j < count; j++)
        values[j] = f->p->tf32 ? (double)tf32_from_f32((float)values[j]) : f->scale * values[j];
}

#define DRAWN_AT_ONCE 256

/* The values [0, count) of a row. */
static void draw_values(const fill *f, rng *r, void *row, int64_t count) {
    double values[DRAWN_AT_ONCE];
    for (int64_t j = 0; j < count; j += DRAWN_AT_ONCE) {
        int64_t some = count - j < DRAWN_AT_ONCE ? count - j : DRAWN_AT_ONCE;
        if (is_normal(f)) draw_normals(f, r, values, some);
        for (int64_t k = 0; !is_normal(f) && k < some; k++) values[k] = draw_value(f, r);
        dtype_from_f64((char *)row + (size_t)j * dtype_bytes(f->shape.dtype), f->shape.dtype, values, some);
    }
}

/* Numbers are drawn for so many rows, and for so many values of a long row; behind them they come again. Both are
 * primes, so that no shape has the same numbers in neighbouring places. */
#define DRAWN_ROWS 1021
#define DRAWN_VALUES 65521
#define FILLED_AT_ONCE 4096

static char *value_at(const fill *f, int64_t row, int64_t j) {
    return (char *)f->data + (size_t)(row * f->shape.pitch + j) * dtype_bytes(f->shape.dtype);
}

/* Each row has numbers of its own, so that rows can be filled in any order. */
static void draw_row(const fill *f, int64_t row) {
    int64_t drawn = f->last < DRAWN_VALUES ? f->last : DRAWN_VALUES;
    rng r = f->sequence;
    r.index = (uint64_t)row << 24;
    draw_values(f, &r, value_at(f, row, 0), drawn);
    for (int64_t j = drawn; j < f->last; j += drawn) {
        int64_t some = f->last - j < drawn ? f->last - j : drawn;
        memcpy(value_at(f, row, j), value_at(f, row, 0), (size_t)some * dtype_bytes(f->shape.dtype));
    }
    for (int64_t j = f->last; j < f->shape.pitch; j++)
        dtype_store(f->data, f->shape.dtype, row * f->shape.pitch + j, 0);
}

static void repeat_row(const fill *f, int64_t row) {
    memcpy(value_at(f, row, 0), value_at(f, row % DRAWN_ROWS, 0), (size_t)f->shape.pitch * dtype_bytes(f->shape.dtype));
}

static void draw_part(void *context, int64_t part) {
    const fill *f = context;
    int64_t end = (part + 1) * f->rows_each, drawn = f->rows < DRAWN_ROWS ? f->rows : DRAWN_ROWS;
    for (int64_t row = part * f->rows_each; row < end && row < drawn; row++) draw_row(f, row);
}

static void repeat_part(void *context, int64_t part) {
    const fill *f = context;
    int64_t first = DRAWN_ROWS + part * f->rows_each;
    for (int64_t row = first; row < first + f->rows_each && row < f->rows; row++) repeat_row(f, row);
}

/* Parts are large enough to be worth a thread: the many small planes of a check are filled at once by one. */
static void fill_rows(fill *f) {
    int64_t drawn = f->rows < DRAWN_ROWS ? f->rows : DRAWN_ROWS;
    f->rows_each = FILLED_AT_ONCE / (f->last > 0 ? f->last : 1) + 1;
    threads_for((drawn + f->rows_each - 1) / f->rows_each, draw_part, f);
    threads_for((f->rows - drawn + f->rows_each - 1) / f->rows_each, repeat_part, f);
}

/* One active sample will not do where it is one value, which has no variance, or where the op refuses it. */
static int64_t least_active(const braid_problem *p, int i) {
    const op_info *o = op_of(p);
    int64_t pixels = o->fields & FIELD_BIT(hw) ? p->size[0] * p->size[1] : 1;
    return pixels == 1 || (o->check_active && o->check_active(p, i, 1)) ? 2 : 1;
}

static void fill_mask(const braid_problem *p, int i, rng r, uint32_t *words) {
    int64_t keep = least_active(p, i), active = p->batch;
    int all = rng_between(&r, 1, 8) == 1;
    memset(words, 0, (size_t)mask_words(p->batch) * sizeof *words);
    for (int64_t b = 0; b < p->batch; b++) {
        int blank = rng_between(&r, 1, 3) == 1;
        if (!all && (!blank || active <= keep)) continue;
        words[b >> 5] |= 1u << (b & 31);
        active--;
    }
}

/* A sum of a million products leaves the range of f16, where it is infinite and proves nothing; the numbers that come
 * again add up all the faster. */
static double real_scale(const braid_problem *p) {
    const double most = 131072;
    double terms = (double)op_of(p)->terms(p);
    return p->dtype == BRAID_DTYPE_F16 && terms > most ? sqrt(most / terms) : 1;
}

static fill rows_of(const braid_problem *p, int slot, int i, image_mode mode, uint64_t seed, void *data) {
    const op_info *o = op_of(p);
    fill f = {.p = p,
              .kind = o->operands[slot].fill,
              .mode = mode,
              .density = 65536.0 / (double)o->terms(p), /* 2^22 over the largest product, 64 */
              .scale = real_scale(p),
              .sequence = {.seed = seed, .stream = (uint64_t)(slot * BRAID_MAX_PLANES + i)},
              .data = data,
              .rows = 1};
    o->shape(p, slot, i, &f.shape);
    f.last = f.shape.dims[f.shape.rank - 1];
    for (int axis = 0; axis + 1 < f.shape.rank; axis++) f.rows *= f.shape.dims[axis];
    return f;
}

/* Masks and tables have no rows of numbers. */
static int has_rows(const braid_problem *p, int slot) {
    operand_fill kind = op_of(p)->operands[slot].fill;
    return kind != FILL_MASK && kind != FILL_OWN;
}

static void fill_input(const braid_problem *p, int slot, int i, image_mode mode, uint64_t seed, void *data) {
    fill f = rows_of(p, slot, i, mode, seed, data);
    if (f.kind == FILL_MASK)
        fill_mask(p, i, f.sequence, data);
    else if (f.kind == FILL_OWN)
        op_of(p)->fill(p, slot, i, &f.sequence, data);
    else
        fill_rows(&f);
}

void image_fill(const braid_problem *p, const image *m, image_mode mode, uint64_t seed, void *base) {
    block_set(base, RED_ZONE_BYTE, m->bytes);
    EACH_PLANE(p, slot, i) {
        if (op_is_input(op_role(p, slot)))
            fill_input(p, slot, i, mode, seed, (char *)base + m->offset[slot][i]);
        else
            block_set((char *)base + m->offset[slot][i], POISON_BYTE, m->plane_bytes[slot][i]);
    }
}

/* Leaves the rows, or of one long row the values, that do not come again. */
static void leave_drawn(fill *f) {
    if (f->rows > DRAWN_ROWS)
        f->rows = DRAWN_ROWS;
    else if (f->rows == 1 && f->last == f->shape.pitch && f->last > DRAWN_VALUES)
        f->last = f->shape.pitch = DRAWN_VALUES;
}

braid_status image_draw(const braid_problem *p, const image *m, int slot, int i, uint64_t seed, void **memory,
                        size_t *drawn) {
    fill f = rows_of(p, slot, i, IMAGE_REAL, seed, NULL);
    leave_drawn(&f);
    *drawn = m->plane_bytes[slot][i];
    if (has_rows(p, slot)) *drawn = (size_t)(f.rows * f.shape.pitch) * dtype_bytes(f.shape.dtype);
    TRY(memory_alloc_device(*drawn, "operands of a race", memory));
    f.data = *memory;
    if (has_rows(p, slot))
        fill_rows(&f);
    else
        fill_input(p, slot, i, IMAGE_REAL, seed, *memory);
    return BRAID_OK;
}

/* ---- The truth's inputs ------------------------------------------------------------------- */

static int is_floating(braid_dtype dtype) { return dtype_is_compute(dtype); }

static braid_status truth_bytes(const braid_problem *p, const image *m, size_t *bytes) {
    *bytes = 0;
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        size_t doubles;
        op_of(p)->shape(p, slot, i, &s);
        if (!op_is_input(op_role(p, slot)) || !is_floating(s.dtype)) continue;
        TRY(size_array(m->plane_bytes[slot][i] / dtype_bytes(s.dtype), sizeof(double), "reference inputs", &doubles));
        TRY(grow(bytes, doubles));
    }
    return BRAID_OK;
}

#define WIDENED_AT_ONCE 65536

typedef struct widening {
    double *to;
    const unsigned char *from;
    braid_dtype dtype;
    int64_t count;
} widening;

static void widen_part(void *context, int64_t part) {
    const widening *w = context;
    int64_t first = part * WIDENED_AT_ONCE, left = w->count - first;
    dtype_to_f64(w->to + first, w->from + (size_t)first * dtype_bytes(w->dtype), w->dtype,
                 left < WIDENED_AT_ONCE ? left : WIDENED_AT_ONCE);
}

static void widen(double *to, const void *from, braid_dtype dtype, int64_t count) {
    widening w = {to, from, dtype, count};
    threads_for((count + WIDENED_AT_ONCE - 1) / WIDENED_AT_ONCE, widen_part, &w);
}

braid_status image_truth(const braid_problem *p, const image *m, void *base, buffers *truth, void **memory) {
    size_t bytes, used = 0;
    TRY(truth_bytes(p, m, &bytes));
    TRY(memory_alloc_device(bytes, "reference inputs", memory));
    memset(truth, 0, sizeof *truth);
    EACH_PLANE(p, slot, i) {
        plane_shape s;
        void *from = (char *)base + m->offset[slot][i];
        op_of(p)->shape(p, slot, i, &s);
        if (!op_is_input(op_role(p, slot))) continue;
        truth->plane[slot][i] = from;
        if (!is_floating(s.dtype)) continue;
        size_t count = m->plane_bytes[slot][i] / dtype_bytes(s.dtype), doubles = 0;
        double *wide = (double *)((char *)*memory + used);
        truth->plane[slot][i] = wide;
        widen(wide, from, s.dtype, (int64_t)count);
        TRY(size_array(count, sizeof(double), "reference inputs", &doubles));
        TRY(grow(&used, doubles));
    }
    return BRAID_OK;
}

braid_status image_widen(const braid_problem *p, const image *m, const void *base, int slot, buffers *truth,
                         double **memory) {
    const int planes = op_of(p)->planes(p, slot);
    size_t first[BRAID_MAX_PLANES], count = 0;
    plane_shape s;
    op_of(p)->shape(p, slot, 0, &s);
    for (int i = 0; i < planes; i++) {
        first[i] = count;
        TRY(grow(&count, m->plane_bytes[slot][i] / dtype_bytes(s.dtype)));
    }
    TRY(memory_alloc(count, sizeof **memory, "reference inputs", (void **)memory));
    for (int i = 0; i < planes; i++) {
        truth->plane[slot][i] = *memory + first[i];
        widen(*memory + first[i], (const char *)base + m->offset[slot][i], s.dtype,
              (int64_t)(m->plane_bytes[slot][i] / dtype_bytes(s.dtype)));
    }
    return BRAID_OK;
}

/* ---- Damage ------------------------------------------------------------------------------- */

static int is_poison(const unsigned char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != POISON_BYTE) return 0;
    }
    return 1;
}

/* The first byte of a red zone that changed; -1: none. */
static int64_t red_zone_hit(const unsigned char *zone, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (zone[i] != RED_ZONE_BYTE) return (int64_t)i;
    }
    return -1;
}

#define SCANNED_AT_ONCE 65536

typedef struct scan {
    plane_shape shape;
    const unsigned char *data;
    int64_t elements;
    int64_t unwritten, beyond; /* the first element that is; `elements`: none */
} scan;

static void note_first(int64_t *first, int64_t found) {
    int64_t seen = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (found < seen && !__atomic_compare_exchange_n(first, &seen, found, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void scan_part(void *context, int64_t part) {
    scan *s = context;
    size_t step = dtype_bytes(s->shape.dtype);
    int64_t last = s->shape.dims[s->shape.rank - 1], end = (part + 1) * SCANNED_AT_ONCE;
    int64_t lane = part * SCANNED_AT_ONCE % s->shape.pitch;
    for (int64_t j = part * SCANNED_AT_ONCE; j < end && j < s->elements; j++) {
        if (is_poison(s->data + (size_t)j * step, step)) note_first(&s->unwritten, j);
        if (lane >= last && dtype_load(s->data, s->shape.dtype, j) != 0) note_first(&s->beyond, j);
        if (++lane == s->shape.pitch) lane = 0;
    }
}

static const char *output_damage(const braid_problem *p, int slot, int i, const unsigned char *data, size_t bytes,
                                 char *text, size_t size) {
    scan s = {.data = data};
    op_of(p)->shape(p, slot, i, &s.shape);
    s.elements = s.unwritten = s.beyond = (int64_t)(bytes / dtype_bytes(s.shape.dtype));
    threads_for((s.elements + SCANNED_AT_ONCE - 1) / SCANNED_AT_ONCE, scan_part, &s);
    if (s.unwritten <= s.beyond && s.unwritten < s.elements) {
        snprintf(text, size, "left %s of stream %d unwritten at element %lld", op_operand_name(p, slot), i,
                 (long long)s.unwritten);
        return text;
    }
    if (s.beyond == s.elements) return NULL;
    snprintf(text, size, "wrote %s of stream %d beyond its channels, where zeros belong, at element %lld",
             op_operand_name(p, slot), i, (long long)s.beyond);
    return text;
}

const char *image_damage(const braid_problem *p, const image *m, const void *before, const void *after) {
    static _Thread_local char text[160];
    const unsigned char *was = before, *is = after;
    size_t zone = 0;
    EACH_PLANE(p, slot, i) {
        size_t begin = m->offset[slot][i], bytes = m->plane_bytes[slot][i];
        if (red_zone_hit(is + zone, begin - zone) >= 0) {
            snprintf(text, sizeof text, "wrote before %s of stream %d", op_operand_name(p, slot), i);
            return text;
        }
        if (op_is_output(op_role(p, slot))) {
            const char *damage = output_damage(p, slot, i, is + begin, bytes, text, sizeof text);
            if (damage) return damage;
        } else if (!block_same(was + begin, is + begin, bytes)) {
            snprintf(text, sizeof text, "changed its input %s of stream %d", op_operand_name(p, slot), i);
            return text;
        }
        zone = begin + bytes;
    }
    if (red_zone_hit(is + zone, m->bytes - zone) >= 0) {
        snprintf(text, sizeof text, "wrote beyond the last operand");
        return text;
    }
    return NULL;
}
