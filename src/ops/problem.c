/*
 * Checks problems: defaults, ranges, fields an op does not have. What only one op can judge is in
 * that op's own file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/problem.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"

#define FIELD_ROW(name, kind, member, flags) \
    {#name, FIELD_KIND_##kind, offsetof(braid_problem, member), flags, #member},
const field fields[FIELD_COUNT] = {FIELD_LIST(FIELD_ROW)};
#undef FIELD_ROW

/* No axis is longer than this; products are checked by core/sizes. */
#define MAX_DIM INT32_MAX

/* Words in the order of an enum, NULL behind them: the compiler counts them. */
#define WORDS_OF(list, count) _Static_assert(sizeof(list) / sizeof((list)[0]) == (count) + 1, "a word for each value")

const char *const *field_words(field_kind kind) {
    static const char *const padding_modes[] = {"zeros", "reflect", "replicate", "circular", NULL};
    static const char *const phases[] = {"train", "eval", NULL};
    static const char *const averages[] = {"exponential", "cumulative", NULL};
    static const char *const activations[] = {"relu", "gelu", "gelu_tanh", "none", NULL};
    static const char *const fusions[] = {"concat", "weighted", "gated", NULL};
    static const char *const dtypes[] = {"f32", "f16", "bf16", "f64", NULL};
    WORDS_OF(padding_modes, BRAID_PADDING_COUNT);
    WORDS_OF(phases, BRAID_PHASE_COUNT);
    WORDS_OF(averages, BRAID_AVERAGE_COUNT);
    WORDS_OF(activations, BRAID_ACTIVATION_COUNT);
    WORDS_OF(fusions, BRAID_FUSION_COUNT);
    switch (kind) {
        case FIELD_KIND_PADDING_MODE: return padding_modes;
        case FIELD_KIND_PHASE: return phases;
        case FIELD_KIND_AVERAGE: return averages;
        case FIELD_KIND_ACTIVATION: return activations;
        case FIELD_KIND_FUSION: return fusions;
        case FIELD_KIND_DTYPE: return dtypes;
        default: return NULL;
    }
}

static void default_pair(int64_t pair[2], int64_t value) {
    for (int axis = 0; axis < 2; axis++) {
        if (pair[axis] == 0) pair[axis] = value;
    }
}

static void default_list(int64_t *list, const int64_t *values, int count) {
    for (int i = 0; i < count; i++) {
        if (list[i] == 0) list[i] = values[i];
    }
}

static double *real_field(braid_problem *p, field_id id) { return (double *)(void *)((char *)p + fields[id].offset); }

/* Zero means the default, in the fields that the op has. */
static void fill_defaults(braid_problem *p, const op_info *o) {
    int streams = p->streams < 0 || p->streams > BRAID_MAX_PLANES ? 0 : p->streams;
    if (o->fields & FIELD_BIT(st)) default_pair(p->stride, 1);
    if (o->fields & FIELD_BIT(dil)) default_pair(p->dilation, 1);
    if (o->fields & FIELD_BIT(out)) default_pair(p->out_size, 1);
    if ((o->fields & FIELD_BIT(g)) && p->groups == 0) p->groups = 1;
    if ((o->fields & FIELD_BIT(seg)) && p->segments == 0) p->segments = 1;
    for (const real_range *r = o->reals; r < o->reals + OP_MAX_REALS && r->high > 0; r++) {
        if (*real_field(p, r->id) == 0) *real_field(p, r->id) = r->usual;
    }
    if (o->fields & FIELD_BIT(cp)) default_list(p->in_pitch, p->in_channels, streams);
    if (o->fields & FIELD_BIT(kp)) default_list(p->out_pitch, p->out_channels, streams);
}

size_t field_bytes(field_kind kind) {
    switch (kind) {
        case FIELD_KIND_INT: return sizeof(int);
        case FIELD_KIND_INT64: return sizeof(int64_t);
        case FIELD_KIND_PAIR:
        case FIELD_KIND_SHORT_PAIR: return sizeof(int64_t[2]);
        case FIELD_KIND_LIST: return sizeof(int64_t[BRAID_MAX_PLANES]);
        case FIELD_KIND_REAL: return sizeof(double);
        default: return sizeof(braid_padding_mode);
    }
}

static braid_status check_unused(const braid_problem *p, const op_info *o, const field *f) {
    static const char zeros[sizeof(int64_t[BRAID_MAX_PLANES])];
    if (memcmp((const char *)p + f->offset, zeros, field_bytes(f->kind)) == 0) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s has no field %s (%s): expected it to be left out, got a value", o->name,
                f->name, f->meaning);
}

static braid_status check_range(const op_info *o, const field *f, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected %s (%s) from %lld to %lld, got %lld", o->name, f->name, f->meaning,
                (long long)low, (long long)high, (long long)value);
}

static int64_t lowest(field_id id) {
    return id == FIELD_b || id == FIELD_pad || id == FIELD_extra || id == FIELD_zi ? 0 : 1;
}

static braid_status check_list(const braid_problem *p, const op_info *o, const field *f, const int64_t *list) {
    for (int i = 0; i < BRAID_MAX_PLANES; i++) {
        if (i < p->streams) {
            TRY(check_range(o, f, list[i], 1, MAX_DIM));
        } else if (list[i] != 0) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected %d values of %s (%s), one per stream, got a further one: %lld", o->name,
                        p->streams, f->name, f->meaning, (long long)list[i]);
        }
    }
    return BRAID_OK;
}

static braid_status check_real(const op_info *o, field_id id, double value) {
    const field *f = &fields[id];
    const real_range *r = op_real_range(o, id);
    if (isfinite(value) && (r->usual > 0 ? value > 0 : value >= 0) && value <= r->high) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected %s (%s) %s 0 and at most %g, got %g", o->name, f->name, f->meaning,
                r->usual > 0 ? "above" : "of at least", r->high, value);
}

/* The fields of one digit are 0 or 1, but the add of two ops, whose bits say what is added to, and counts of planes. */
static int64_t highest(const op_info *o, field_id id) {
    if (id == FIELD_given || id == FIELD_skip) return o->max_streams - 1;
    if (id == FIELD_add && o == op_find(BRAID_OP_INTEGRATE)) return INTEGRATE_ADD_R | INTEGRATE_ADD_Z;
    return id == FIELD_add && o == op_find(BRAID_OP_CONV2D_DGRAD_BN_REDUCE)
               ? CONV2D_DGRAD_BN_REDUCE_ADD_A | CONV2D_DGRAD_BN_REDUCE_ADD_Z
               : 1;
}

static braid_status check_field(const braid_problem *p, const op_info *o, field_id id) {
    const field *f = &fields[id];
    const void *at = (const char *)p + f->offset;
    const int64_t *integers = at;
    if (!(o->fields & (UINT64_C(1) << id))) return check_unused(p, o, f);
    switch (f->kind) {
        case FIELD_KIND_INT:
            if (id == FIELD_n) return check_range(o, f, p->streams, 1, o->max_streams);
            return check_range(o, f, *(const int *)at, 0, highest(o, id));
        case FIELD_KIND_INT64: return check_range(o, f, *integers, lowest(id), MAX_DIM);
        case FIELD_KIND_PAIR:
        case FIELD_KIND_SHORT_PAIR:
            TRY(check_range(o, f, integers[0], lowest(id), MAX_DIM));
            return check_range(o, f, integers[1], lowest(id), MAX_DIM);
        case FIELD_KIND_LIST: return check_list(p, o, f, integers);
        case FIELD_KIND_REAL: return check_real(o, id, *(const double *)at);
        default: {
            int64_t words = 0;
            while (field_words(f->kind)[words]) words++;
            return check_range(o, f, (int64_t) * (const unsigned *)at, 0, words - 1);
        }
    }
}

static braid_status check_pitch(const braid_problem *p, const op_info *o) {
    for (int i = 0; i < p->streams; i++) {
        if ((o->fields & FIELD_BIT(cp)) && p->in_pitch[i] < p->in_channels[i]) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected cp (in_pitch) of stream %d to be at least its %lld channels, got %lld", o->name,
                        i, (long long)p->in_channels[i], (long long)p->in_pitch[i]);
        }
        if ((o->fields & FIELD_BIT(kp)) && p->out_pitch[i] < p->out_channels[i]) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected kp (out_pitch) of stream %d to be at least its %lld channels, got %lld", o->name,
                        i, (long long)p->out_channels[i], (long long)p->out_pitch[i]);
        }
    }
    return BRAID_OK;
}

/* Every operand must fit in memory arithmetic. */
static braid_status check_sizes(const braid_problem *p, const op_info *o) {
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        braid_operand_info info;
        TRY(op_operand_info(p, slot, &info));
    }
    return BRAID_OK;
}

braid_status braid_problem_check(braid_problem *problem) {
    if (!problem) return fail(BRAID_ERROR_ARGUMENT, "braid_problem_check: expected a problem, got NULL");
    const op_info *o = op_find(problem->op);
    if (!o) {
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected op from 0 to %d, got %d", BRAID_OP_COUNT - 1,
                    (int)problem->op);
    }
    if ((unsigned)problem->pass >= BRAID_PASS_COUNT || !(o->passes & (1u << problem->pass))) {
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected one of its passes, got pass %d", o->name, (int)problem->pass);
    }
    if (!dtype_is_compute(problem->dtype)) {
        const char *name = braid_dtype_name(problem->dtype);
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected dtype f32, f16, bf16 or f64, got %s (%d)", o->name,
                    name ? name : "no dtype", (int)problem->dtype);
    }
    if (problem->tf32 && problem->dtype != BRAID_DTYPE_F32)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected tf32 with dtype f32, got %s", o->name,
                    braid_dtype_name(problem->dtype));
    braid_problem checked = *problem;
    fill_defaults(&checked, o);
    for (int id = 0; id < FIELD_COUNT; id++) TRY(check_field(&checked, o, (field_id)id));
    TRY(check_pitch(&checked, o));
    if (o->check) TRY(o->check(&checked));
    TRY(check_sizes(&checked, o));
    *problem = checked;
    return BRAID_OK;
}
