/*
 * The problem as text and as a checked struct. The table of fields is FIELD_LIST in ops/op.h; each op
 * says which of them it uses. One string names a problem in tests, benches, logs and wisdom.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_PROBLEM_H
#define BRAID_OPS_PROBLEM_H

#include "ops/op.h"

typedef enum field_kind {
    FIELD_KIND_INT,          /* int, 0 or more */
    FIELD_KIND_INT64,        /* int64_t */
    FIELD_KIND_PAIR,         /* int64_t[2], always printed 3x3 */
    FIELD_KIND_SHORT_PAIR,   /* int64_t[2], printed 1 where both are equal */
    FIELD_KIND_LIST,         /* int64_t[BRAID_MAX_PLANES], one for each stream */
    FIELD_KIND_REAL,         /* double */
    FIELD_KIND_PADDING_MODE, /* enums, printed name=word */
    FIELD_KIND_PHASE,
    FIELD_KIND_AVERAGE,
    FIELD_KIND_ACTIVATION,
    FIELD_KIND_FUSION,
    FIELD_KIND_DTYPE, /* of compute */
} field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset; /* into braid_problem */
    unsigned flags;
    const char *meaning; /* the words of the public header, for messages */
} field;

extern const field fields[FIELD_COUNT];

/* 1 where both checked problems have the same text. */
int problem_same(const braid_problem *a, const braid_problem *b);

/* The bytes of a field in braid_problem. */
size_t field_bytes(field_kind kind);

/* The words of an enum kind, NULL behind the last; NULL for a kind that is no enum. */
const char *const *field_words(field_kind kind);

#endif
