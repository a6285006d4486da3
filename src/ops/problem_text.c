/*
 * Problems as text: `conv2d_fwd:f32:n3:b16:hw104x136:c64,64,64:...`. Reading is lenient about what is
 * left out and strict about everything else; writing is canonical, so equal problems give equal text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/reals.h"
#include "ops/problem.h"

/* ---- Names -------------------------------------------------------------------------------- */

static const char *const pass_names[BRAID_PASS_COUNT] = {"fwd", "bwd_data", "bwd_weight"};

const char *braid_op_id_name(braid_op_id id) {
    const op_info *o = op_find(id);
    return o ? o->name : NULL;
}

const char *braid_pass_name(braid_op_id id, braid_pass pass) {
    const op_info *o = op_find(id);
    if (!o || (unsigned)pass >= BRAID_PASS_COUNT || !(o->passes & (1u << pass))) return NULL;
    return o->single_pass ? "" : pass_names[pass];
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* Stops at the first character that is not part of the number. */
static braid_status read_integer(const field *f, const char **at, int64_t *value) {
    char *end;
    errno = 0;
    if (**at < '0' || **at > '9') {
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected a number in field %s (%s), got \"%.32s\"", f->name,
                    f->meaning, *at);
    }
    long long read = strtoll(*at, &end, 10);
    if (errno) {
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected field %s (%s) to fit in 64 bits, got \"%.32s\"", f->name,
                    f->meaning, *at);
    }
    *value = read;
    *at = end;
    return BRAID_OK;
}

static braid_status read_pair(const field *f, const char **at, int64_t pair[2]) {
    TRY(read_integer(f, at, &pair[0]));
    pair[1] = pair[0];
    if (**at != 'x') return BRAID_OK;
    (*at)++;
    return read_integer(f, at, &pair[1]);
}

static braid_status read_list(const field *f, const char **at, int64_t *list, int *count) {
    for (*count = 0;; (*at)++) {
        if (*count == BRAID_MAX_PLANES) {
            return fail(BRAID_ERROR_ARGUMENT, "problem: expected at most %d values in field %s (%s), got more",
                        BRAID_MAX_PLANES, f->name, f->meaning);
        }
        TRY(read_integer(f, at, &list[(*count)++]));
        if (**at != ',') return BRAID_OK;
    }
}

static braid_status read_word(const field *f, const char **at, void *value) {
    const char *const *words = field_words(f->kind);
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(*at, words[i]) == 0) {
            memcpy(value, &i, sizeof i);
            *at += strlen(words[i]);
            return BRAID_OK;
        }
    }
    return fail(BRAID_ERROR_ARGUMENT, "problem: expected %s=%s or another word of that field, got \"%s=%.32s\"",
                f->name, words[0], f->name, *at);
}

/* What a typed string leaves open until all fields are read. */
typedef struct reading {
    braid_problem *problem;
    const op_info *op;
    uint64_t seen;               /* FIELD_BITs */
    int list_count[FIELD_COUNT]; /* values typed */
    int pad_same;
} reading;

static braid_status read_value(reading *r, field_id id, const char *value) {
    const field *f = &fields[id];
    void *to = (char *)r->problem + f->offset;
    const char *at = value;
    int64_t integer = 0;
    if (id == FIELD_pad && strcmp(value, "same") == 0) {
        r->pad_same = 1;
        return BRAID_OK;
    }
    if (id == FIELD_pad && strcmp(value, "valid") == 0) return BRAID_OK;
    switch (f->kind) {
        case FIELD_KIND_INT:
            TRY(read_integer(f, &at, &integer));
            if (integer > BRAID_MAX_PLANES) {
                return fail(BRAID_ERROR_ARGUMENT, "problem: expected %s (%s) to be at most %d, got %lld", f->name,
                            f->meaning, BRAID_MAX_PLANES, (long long)integer);
            }
            *(int *)to = (int)integer;
            break;
        case FIELD_KIND_INT64: TRY(read_integer(f, &at, to)); break;
        case FIELD_KIND_PAIR:
        case FIELD_KIND_SHORT_PAIR: TRY(read_pair(f, &at, to)); break;
        case FIELD_KIND_LIST: TRY(read_list(f, &at, to, &r->list_count[id])); break;
        case FIELD_KIND_REAL: {
            char *end;
            *(double *)to = real_read(at, &end);
            if (end == at)
                return fail(BRAID_ERROR_ARGUMENT, "problem: expected a number in field %s, got \"%.32s\"", f->name, at);
            at = end;
            break;
        }
        default: TRY(read_word(f, &at, to)); break;
    }
    if (*at) {
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected field %s (%s) to end after \"%.*s\", got \"%.32s\"",
                    f->name, f->meaning, (int)(at - value), value, at);
    }
    return BRAID_OK;
}

static int starts_value(char c) { return c == '=' || c == '.' || (c >= '0' && c <= '9'); }

static braid_status read_field(reading *r, const char *token) {
    for (int id = 0; id < FIELD_COUNT; id++) {
        size_t length = strlen(fields[id].name);
        if (fields[id].flags & FIELD_DTYPE) continue;
        if (strncmp(token, fields[id].name, length) != 0 || !starts_value(token[length])) continue;
        if (!(r->op->fields & (UINT64_C(1) << id))) {
            return fail(BRAID_ERROR_ARGUMENT, "problem: %s has no field %s, got \"%s\"", r->op->name, fields[id].name,
                        token);
        }
        if (r->seen & (UINT64_C(1) << id)) {
            return fail(BRAID_ERROR_ARGUMENT, "problem: expected field %s once, got it again in \"%s\"",
                        fields[id].name, token);
        }
        r->seen |= UINT64_C(1) << id;
        return read_value(r, (field_id)id, token + length + (token[length] == '='));
    }
    return fail(BRAID_ERROR_ARGUMENT, "problem: expected a field like b16 or mode=zeros, got \"%.40s\"", token);
}

/* "conv2d_fwd", "bn_stats" */
static braid_status read_op(const char *token, reading *r) {
    for (int id = 0; id < BRAID_OP_COUNT; id++) {
        const op_info *o = op_find((braid_op_id)id);
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            char name[64];
            if (!(o->passes & (1u << pass))) continue;
            snprintf(name, sizeof name, "%s%s%s", o->name, o->single_pass ? "" : "_",
                     o->single_pass ? "" : pass_names[pass]);
            if (strcmp(token, name) != 0) continue;
            r->op = o;
            r->problem->op = (braid_op_id)id;
            r->problem->pass = (braid_pass)pass;
            return BRAID_OK;
        }
    }
    return fail(BRAID_ERROR_ARGUMENT,
                "problem: expected an op and pass like conv2d_fwd, linear_bwd_weight or bn_stats, got \"%.40s\"",
                token);
}

static int read_dtype(const char *token, braid_problem *p) {
    if (strcmp(token, "tf32") == 0) {
        p->tf32 = 1;
        return 1;
    }
    for (int i = 0; i < BRAID_DTYPE_COUNT; i++) {
        if (strcmp(token, braid_dtype_name((braid_dtype)i)) == 0) {
            p->dtype = (braid_dtype)i;
            return 1;
        }
    }
    return 0;
}

static braid_status refuse_typed_zero(const reading *r, field_id id) {
    const field *f = &fields[id];
    if (!(r->seen & (UINT64_C(1) << id))) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "problem: expected field %s (%s) above 0, got 0", f->name, f->meaning);
}

/* A zero that was typed is not the default: refuse it where the field has no zero. */
static braid_status refuse_zeros(const reading *r) {
    const braid_problem *p = r->problem;
    const struct {
        field_id id;
        int zero;
    } given[] = {
        {FIELD_st, p->stride[0] == 0 || p->stride[1] == 0},
        {FIELD_dil, p->dilation[0] == 0 || p->dilation[1] == 0},
        {FIELD_g, p->groups == 0},
        {FIELD_seg, p->segments == 0},
    };
    for (size_t j = 0; j < sizeof given / sizeof given[0]; j++) {
        if (given[j].zero) TRY(refuse_typed_zero(r, given[j].id));
    }
    for (int id = 0; id < FIELD_COUNT; id++) {
        const real_range *range = op_real_range(r->op, (field_id)id);
        const double *value = (const double *)(const void *)((const char *)p + fields[id].offset);
        if (range && range->usual > 0 && *value == 0) TRY(refuse_typed_zero(r, (field_id)id));
    }
    if (r->pad_same && (r->seen & FIELD_BIT(extra)))
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected pad=same without extra, which it sets, got both");
    return BRAID_OK;
}

/* What was not typed: the batch, the number of streams, single numbers for all streams, and pad=same. */
static braid_status complete(reading *r) {
    braid_problem *p = r->problem;
    TRY(refuse_zeros(r));
    if (!(r->seen & FIELD_BIT(b)) && (r->op->fields & FIELD_BIT(b))) p->batch = 1;
    if (!(r->seen & FIELD_BIT(n))) {
        p->streams = 1;
        for (int id = 0; id < FIELD_COUNT; id++) {
            if (r->list_count[id] > p->streams) p->streams = r->list_count[id];
        }
    }
    for (int id = 0; id < FIELD_COUNT; id++) {
        int64_t *list = (int64_t *)(void *)((char *)p + fields[id].offset);
        if (fields[id].kind != FIELD_KIND_LIST || r->list_count[id] == 0) continue;
        if (r->list_count[id] == 1) {
            for (int i = 1; i < p->streams && i < BRAID_MAX_PLANES; i++) list[i] = list[0];
        } else if (r->list_count[id] != p->streams) {
            return fail(BRAID_ERROR_ARGUMENT, "problem: expected 1 or %d values in field %s (%s), got %d", p->streams,
                        fields[id].name, fields[id].meaning, r->list_count[id]);
        }
    }
    for (int axis = 0; r->pad_same && axis < 2; axis++) {
        int64_t dilation = p->dilation[axis] ? p->dilation[axis] : 1;
        if (p->stride[axis] > 1)
            return fail(BRAID_ERROR_ARGUMENT, "problem: expected stride 1 with pad=same, got %lld",
                        (long long)p->stride[axis]);
        if (dilation > INT32_MAX || p->filter[axis] > INT32_MAX || p->filter[axis] < 1)
            continue; /* refused by the check */
        int64_t total = dilation * (p->filter[axis] - 1);
        p->padding[axis] = total / 2;
        p->extra_padding[axis] = total % 2;
    }
    return BRAID_OK;
}

braid_status braid_problem_parse(const char *text, braid_problem *problem) {
    char copy[BRAID_PROBLEM_TEXT];
    if (!text || !problem)
        return fail(BRAID_ERROR_ARGUMENT, "braid_problem_parse: expected a text and a problem, got NULL");
    size_t length = strlen(text);
    if (length >= sizeof copy) {
        return fail(BRAID_ERROR_ARGUMENT, "problem: expected fewer than %d characters, got %zu", BRAID_PROBLEM_TEXT,
                    length);
    }
    memcpy(copy, text, length + 1);
    braid_problem parsed = {0};
    reading r = {.problem = &parsed};
    char *rest = copy;
    TRY(read_op(strsep(&rest, ":"), &r));
    for (int position = 1; rest; position++) {
        const char *token = strsep(&rest, ":");
        if (position == 1 && read_dtype(token, &parsed)) continue;
        TRY(read_field(&r, token));
    }
    TRY(complete(&r));
    TRY(braid_problem_check(&parsed));
    *problem = parsed;
    return BRAID_OK;
}

/* ---- Writing ------------------------------------------------------------------------------ */

typedef struct text_out {
    char *text;
    size_t size, used;
} text_out;

__attribute__((format(printf, 2, 3))) static void put(text_out *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->used < out->size ? out->size - out->used : 0;
    int written = real_format_list(room ? out->text + out->used : NULL, room, format, arguments);
    va_end(arguments);
    if (written > 0) out->used += (size_t)written;
}

static int is_default(const braid_problem *p, field_id id) {
    const void *at = (const char *)p + fields[id].offset;
    if (fields[id].kind == FIELD_KIND_INT) return *(const int *)at == 0;
    const int64_t *value = at;
    const int64_t *usual = id == FIELD_cp ? p->in_channels : p->out_channels;
    if (fields[id].kind == FIELD_KIND_SHORT_PAIR) return value[0] == 0 && value[1] == 0;
    for (int i = 0; i < p->streams; i++) {
        if (value[i] != usual[i]) return 0;
    }
    return 1;
}

static void put_field(text_out *out, const braid_problem *p, field_id id) {
    const field *f = &fields[id];
    const void *at = (const char *)p + f->offset;
    const int64_t *integers = at;
    char real[REAL_TEXT_BYTES];
    put(out, ":%s", f->name);
    switch (f->kind) {
        case FIELD_KIND_INT: put(out, "%d", *(const int *)at); break;
        case FIELD_KIND_INT64: put(out, "%lld", (long long)*integers); break;
        case FIELD_KIND_SHORT_PAIR:
            put(out, "%lld", (long long)integers[0]);
            if (integers[0] != integers[1]) put(out, "x%lld", (long long)integers[1]);
            break;
        case FIELD_KIND_PAIR: put(out, "%lldx%lld", (long long)integers[0], (long long)integers[1]); break;
        case FIELD_KIND_LIST:
            for (int i = 0; i < p->streams; i++) put(out, "%s%lld", i ? "," : "", (long long)integers[i]);
            break;
        case FIELD_KIND_REAL:
            real_print(real, sizeof real, *(const double *)at);
            put(out, "%s", real);
            break;
        default: put(out, "=%s", field_words(f->kind)[*(const unsigned *)at]); break;
    }
}

braid_status braid_problem_print(const braid_problem *problem, char *text, size_t size) {
    if (!problem || !text)
        return fail(BRAID_ERROR_ARGUMENT, "braid_problem_print: expected a problem and a text, got NULL");
    braid_problem p = *problem;
    TRY(braid_problem_check(&p));
    const op_info *o = op_of(&p);
    text_out out = {.text = text, .size = size};
    put(&out, "%s%s%s:%s", o->name, o->single_pass ? "" : "_", braid_pass_name(p.op, p.pass), op_dtype_name(&p));
    for (int id = 0; id < FIELD_COUNT; id++) {
        if (!(o->fields & (UINT64_C(1) << id)) || (fields[id].flags & FIELD_DTYPE)) continue;
        if ((fields[id].flags & FIELD_OMIT) && is_default(&p, (field_id)id)) continue;
        put_field(&out, &p, (field_id)id);
    }
    if (out.used >= size) {
        return fail(BRAID_ERROR_ARGUMENT, "braid_problem_print: expected room for %zu bytes, got %zu", out.used + 1,
                    size);
    }
    return BRAID_OK;
}

int problem_same(const braid_problem *a, const braid_problem *b) {
    char x[BRAID_PROBLEM_TEXT], y[BRAID_PROBLEM_TEXT];
    if (a->op != b->op || a->pass != b->pass) return 0;
    return braid_problem_print(a, x, sizeof x) == BRAID_OK && braid_problem_print(b, y, sizeof y) == BRAID_OK &&
           strcmp(x, y) == 0;
}
