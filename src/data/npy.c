/*
 * npy by a small reader that moves over the header's text and demands each part in the order NumPy writes it:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/npy.h"

#include <string.h>

#include "core/sizes.h"

#define MAX_HEADER 65536

typedef struct cursor {
    const char *file, *at, *end;
} cursor;

static const struct {
    const char *descr;
    size_t bytes;
} types[NPY_TYPE_COUNT] = {
    [NPY_U8] = {"|u1", 1},  [NPY_U16] = {"<u2", 2}, [NPY_I32] = {"<i4", 4}, [NPY_I64] = {"<i8", 8},
    [NPY_F16] = {"<f2", 2}, [NPY_F32] = {"<f4", 4}, [NPY_F64] = {"<f8", 8},
};

static braid_status refuse(size_t byte, const char *expected) {
    return fail(BRAID_ERROR_DATA, "npy: expected %s, at byte %zu", expected, byte);
}

static braid_status refuse_here(const cursor *c, const char *expected) {
    return refuse((size_t)(c->at - c->file), expected);
}

/* Moves over the word and the blanks behind it, or stays. */
static int take(cursor *c, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return 0;
    c->at += length;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) c->at++;
    return 1;
}

static int take_number(cursor *c, int64_t *out) {
    const char *begin = c->at;
    int64_t value = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        if (value > INT64_MAX / 16) return 0;
        value = value * 10 + (*c->at++ - '0');
    }
    *out = value;
    if (c->at == begin) return 0;
    take(c, "");
    return 1;
}

static braid_status read_type(cursor *c, npy *out) {
    char quoted[8];
    for (int t = 0; t < NPY_TYPE_COUNT; t++) {
        memcpy(quoted, (char[]){'\'', types[t].descr[0], types[t].descr[1], types[t].descr[2], '\'', 0}, 6);
        if (!take(c, quoted)) continue;
        out->type = (npy_type)t;
        return BRAID_OK;
    }
    return refuse_here(c, "one of the types |u1 <u2 <i4 <i8 <f2 <f4 <f8");
}

static braid_status read_shape(cursor *c, npy *out) {
    if (!take(c, "(")) return refuse_here(c, "'shape' to be a tuple");
    for (out->rank = 0; !take(c, ")"); out->rank++) {
        if (out->rank == NPY_MAX_RANK) return refuse_here(c, "at most 8 dimensions");
        if (!take_number(c, &out->dims[out->rank])) return refuse_here(c, "whole numbers in 'shape'");
        if (!take(c, ",") && !(c->at < c->end && *c->at == ')')) return refuse_here(c, "a comma in 'shape'");
    }
    return BRAID_OK;
}

static braid_status read_dictionary(cursor *c, npy *out) {
    if (!take(c, "{") || !take(c, "'descr':")) return refuse_here(c, "the header to begin with {'descr':");
    TRY(read_type(c, out));
    if (!take(c, ",") || !take(c, "'fortran_order':")) return refuse_here(c, "'fortran_order' after 'descr'");
    if (take(c, "True")) return refuse_here(c, "C order, got Fortran order; save numpy.ascontiguousarray(x)");
    if (!take(c, "False") || !take(c, ",") || !take(c, "'shape':"))
        return refuse_here(c, "'shape' after 'fortran_order'");
    TRY(read_shape(c, out));
    take(c, ",");
    if (!take(c, "}") || c->at != c->end) return refuse_here(c, "the header to end after 'shape'");
    return BRAID_OK;
}

braid_status npy_read(const void *data, size_t bytes, npy *out) {
    const unsigned char *file = data;
    *out = (npy){0};
    if (bytes < 12 || memcmp(file, "\x93NUMPY", 6) != 0) return refuse(0, "a file that begins with \\x93NUMPY");
    if (file[6] < 1 || file[6] > 3) return refuse(6, "format version 1, 2 or 3");
    size_t begin = file[6] == 1 ? 10 : 12, length = file[8] | (size_t)file[9] << 8;
    if (file[6] > 1) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > MAX_HEADER || length > bytes - begin) return refuse(8, "a header of at most 64 KiB that is whole");
    cursor c = {(const char *)file, (const char *)file + begin, (const char *)file + begin + length};
    TRY(read_dictionary(&c, out));
    int64_t elements;
    if (size_elements(out->dims, out->rank, "npy", &elements)) return refuse_here(&c, "a shape that fits in memory");
    TRY(size_array((size_t)elements, types[out->type].bytes, "npy", &out->bytes));
    out->data = file + begin + length;
    if (out->bytes != bytes - begin - length)
        return fail(BRAID_ERROR_DATA, "npy: expected %zu bytes after the header, got %zu, at byte %zu", out->bytes,
                    bytes - begin - length, begin + length);
    return BRAID_OK;
}
