/*
 * Writing safetensors. The length of the header is known before the data is, so the data is written first and
 * the header, with the checksums of what went by, last: sources are read once, in pieces, and nothing is doubled.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors_format.h"
#include "core/sizes.h"

#define LENGTH_BYTES 8
#define HEADER_ALIGNMENT 8
#define PIECE_BYTES ((size_t)1 << 20) /* of a source */

typedef struct item {
    safetensors_entry entry; /* begin and end are set by the write */
    const void *data;
    safetensors_source *source;
    void *user;
    uint64_t checksum;
} item;

struct safetensors_writer {
    item *items;
    size_t count, item_room;
    safetensors_pair *pairs;
    size_t pair_count, pair_room;
};

/* ---- What to write ------------------------------------------------------------------------ */

static braid_status add_pair(safetensors_writer *writer, const char *key, const char *value) {
    char *key_copy, *value_copy;
    TRY(memory_grow((void **)&writer->pairs, writer->pair_count, &writer->pair_room, sizeof *writer->pairs,
                    "metadata of a model file"));
    TRY(memory_copy_text(key, &key_copy));
    braid_status status = memory_copy_text(value, &value_copy);
    if (status != BRAID_OK) {
        memory_free(key_copy);
        return status;
    }
    writer->pairs[writer->pair_count++] = (safetensors_pair){.key = key_copy, .value = value_copy};
    return BRAID_OK;
}

braid_status safetensors_writer_create(safetensors_writer **writer) {
    TRY(memory_calloc(1, sizeof **writer, "a writer of model files", (void **)writer));
    braid_status status = add_pair(*writer, SAFETENSORS_MARK, "with " SAFETENSORS_CHECKSUM);
    if (status == BRAID_OK) return BRAID_OK;
    safetensors_writer_destroy(*writer);
    *writer = NULL;
    return status;
}

void safetensors_writer_destroy(safetensors_writer *writer) {
    if (!writer) return;
    for (size_t i = 0; i < writer->count; i++) memory_free((void *)writer->items[i].entry.name);
    for (size_t i = 0; i < writer->pair_count; i++) {
        memory_free((void *)writer->pairs[i].key);
        memory_free((void *)writer->pairs[i].value);
    }
    memory_free(writer->items);
    memory_free(writer->pairs);
    memory_free(writer);
}

static braid_status check_text(const char *text, const char *what) {
    if (!text) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a text, got NULL", what);
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        int length = safetensors_utf8(at, end);
        if (length == 0) return fail(BRAID_ERROR_ARGUMENT, "%s: expected UTF-8, got the byte 0x%02x", what, *at);
        at += length;
    }
    return BRAID_OK;
}

static braid_status check_tensor(const safetensors_tensor *t, size_t *bytes) {
    safetensors_entry entry = {.dtype = t->dtype, .rank = t->rank};
    TRY(check_text(t->name, "name of a tensor"));
    TRY(safetensors_check_name(t->name, "safetensors", "tensor", BRAID_ERROR_ARGUMENT));
    if (strcmp(t->name, SAFETENSORS_METADATA) == 0)
        return fail(BRAID_ERROR_ARGUMENT, "name of a tensor: expected another than " SAFETENSORS_METADATA);
    if (!safetensors_dtype_name(t->dtype))
        return fail(BRAID_ERROR_ARGUMENT, "tensor \"%.128s\": expected a dtype, got the value %d", t->name,
                    (int)t->dtype);
    if (t->rank < 0 || t->rank > SAFETENSORS_MAX_RANK)
        return fail(BRAID_ERROR_ARGUMENT, "tensor \"%.128s\": expected a rank of 0 to %d, got %d", t->name,
                    SAFETENSORS_MAX_RANK, t->rank);
    for (int axis = 0; axis < t->rank; axis++) {
        if (t->dims[axis] < 0)
            return fail(BRAID_ERROR_ARGUMENT, "tensor \"%.128s\": expected dimensions of 0 or more, got %" PRId64,
                        t->name, t->dims[axis]);
        entry.dims[axis] = t->dims[axis];
    }
    if (!safetensors_bytes(&entry, bytes))
        return fail(BRAID_ERROR_ARGUMENT, "tensor \"%.128s\": expected a shape whose bytes fit in 63 bits", t->name);
    if (*bytes > 0 && !t->data && !t->source)
        return fail(BRAID_ERROR_ARGUMENT, "tensor \"%.128s\": expected data or a source for its %zu bytes, got none",
                    t->name, *bytes);
    return BRAID_OK;
}

braid_status safetensors_writer_add(safetensors_writer *writer, const safetensors_tensor *tensor) {
    size_t bytes;
    char *name;
    TRY(check_tensor(tensor, &bytes));
    TRY(memory_grow((void **)&writer->items, writer->count, &writer->item_room, sizeof *writer->items, "model file"));
    TRY(memory_copy_text(tensor->name, &name));
    item *added = &writer->items[writer->count++];
    *added = (item){.entry = {.name = name, .dtype = tensor->dtype, .rank = tensor->rank, .end = bytes},
                    .data = tensor->data,
                    .source = tensor->source,
                    .user = tensor->user};
    for (int axis = 0; axis < tensor->rank; axis++) added->entry.dims[axis] = tensor->dims[axis];
    return BRAID_OK;
}

braid_status safetensors_writer_metadata(safetensors_writer *writer, const char *key, const char *value) {
    TRY(check_text(key, "key of metadata"));
    TRY(check_text(value, "value of metadata"));
    TRY(safetensors_check_name(key, "safetensors", "metadata text", BRAID_ERROR_ARGUMENT));
    if (safetensors_is_own_key(key))
        return fail(BRAID_ERROR_ARGUMENT, "key of metadata: expected another than %s, which the write itself adds",
                    key);
    return add_pair(writer, key, value);
}

/* ---- The header --------------------------------------------------------------------------- */

/* A text that is only measured while `to` is NULL. */
typedef struct builder {
    char *to;
    size_t used;
} builder;

static void put(builder *b, const char *text, size_t bytes) {
    if (b->to) memcpy(b->to + b->used, text, bytes);
    b->used += bytes;
}

static void put_text(builder *b, const char *text) { put(b, text, strlen(text)); }

static void put_quoted(builder *b, const char *text) {
    put_text(b, "\"");
    for (const char *c = text; *c; c++) {
        char escape[8];
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            put(b, (const char[]){'\\', *c}, 2);
        else if (byte < ' ')
            put(b, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
        else
            put(b, c, 1);
    }
    put_text(b, "\"");
}

static void put_number(builder *b, uint64_t value) {
    char digits[24];
    put(b, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

static void put_entry(builder *b, const safetensors_entry *entry) {
    put_quoted(b, entry->name);
    put_text(b, ":{\"dtype\":\"");
    put_text(b, safetensors_dtype_name(entry->dtype));
    put_text(b, "\",\"shape\":[");
    for (int axis = 0; axis < entry->rank; axis++) {
        if (axis > 0) put_text(b, ",");
        put_number(b, (uint64_t)entry->dims[axis]);
    }
    put_text(b, "],\"data_offsets\":[");
    put_number(b, entry->begin);
    put_text(b, ",");
    put_number(b, entry->end);
    put_text(b, "]}");
}

static void put_digits(builder *b, uint64_t hash) {
    char digits[SAFETENSORS_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    put(b, digits, SAFETENSORS_DIGITS);
}

static uint64_t hash_header(const safetensors_writer *writer) {
    uint64_t hash = 0;
    for (size_t i = 0; i < writer->pair_count; i++) hash = safetensors_hash_pair(hash, &writer->pairs[i]);
    for (size_t i = 0; i < writer->count; i++) hash = safetensors_hash_entry(hash, &writer->items[i].entry);
    return hash;
}

static void put_header(builder *b, const safetensors_writer *writer) {
    put_text(b, "{\"" SAFETENSORS_METADATA "\":{\"" SAFETENSORS_CHECKSUM "\":\"" SAFETENSORS_CHECKSUM_START);
    put_digits(b, hash_header(writer));
    for (size_t i = 0; i < writer->count; i++) put_digits(b, writer->items[i].checksum);
    put_text(b, "\"");
    for (size_t i = 0; i < writer->pair_count; i++) {
        put_text(b, ",");
        put_quoted(b, writer->pairs[i].key);
        put_text(b, ":");
        put_quoted(b, writer->pairs[i].value);
    }
    put_text(b, "}");
    for (size_t i = 0; i < writer->count; i++) {
        put_text(b, ",");
        put_entry(b, &writer->items[i].entry);
    }
    put_text(b, "}");
    while (b->used % HEADER_ALIGNMENT) put_text(b, " ");
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* Wide dtypes first, in the order of the reference implementation, so that the data is aligned. */
static int rank_of(braid_dtype dtype) {
    static const braid_dtype order[] = {BRAID_DTYPE_I64,  BRAID_DTYPE_F64, BRAID_DTYPE_F32, BRAID_DTYPE_I32,
                                        BRAID_DTYPE_BF16, BRAID_DTYPE_F16, BRAID_DTYPE_U8};
    int rank = 0;
    while (rank + 1 < BRAID_DTYPE_COUNT && order[rank] != dtype) rank++;
    return rank;
}

static int compare_items(const void *a, const void *b) {
    const safetensors_entry *x = &((const item *)a)->entry, *y = &((const item *)b)->entry;
    return x->dtype != y->dtype ? rank_of(x->dtype) - rank_of(y->dtype) : strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static braid_status check_names(const safetensors_writer *writer) {
    const char **names;
    braid_status status = BRAID_OK;
    TRY(memory_alloc(writer->count, sizeof *names, "the names of a model file", (void **)&names));
    for (size_t i = 0; i < writer->count; i++) names[i] = writer->items[i].entry.name;
    qsort(names, writer->count, sizeof *names, compare_names);
    for (size_t i = 1; i < writer->count && status == BRAID_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status =
                fail(BRAID_ERROR_ARGUMENT, "safetensors: expected every tensor once, got \"%.128s\" twice", names[i]);
    memory_free(names);
    for (size_t i = 1; i < writer->pair_count && status == BRAID_OK; i++)
        if (strcmp(writer->pairs[i - 1].key, writer->pairs[i].key) == 0)
            status =
                fail(BRAID_ERROR_ARGUMENT, "safetensors: expected every key of the metadata once, got \"%.128s\" twice",
                     writer->pairs[i].key);
    return status;
}

/* Sorts, and gives every tensor its place. */
static braid_status place_items(safetensors_writer *writer) {
    size_t offset = 0;
    if (writer->count > SAFETENSORS_MAX_TENSORS || writer->pair_count >= SAFETENSORS_MAX_TENSORS)
        return fail(BRAID_ERROR_ARGUMENT, "safetensors: expected at most %d tensors and metadata pairs, got more",
                    SAFETENSORS_MAX_TENSORS);
    if (writer->count > 0) qsort(writer->items, writer->count, sizeof *writer->items, compare_items);
    if (writer->pair_count > 0)
        qsort(writer->pairs, writer->pair_count, sizeof *writer->pairs, safetensors_compare_pairs);
    for (size_t i = 0; i < writer->count; i++) {
        safetensors_entry *entry = &writer->items[i].entry;
        size_t bytes = entry->end - entry->begin;
        entry->begin = offset;
        if (!size_add(offset, bytes, &offset) || offset > INT64_MAX / 2)
            return fail(BRAID_ERROR_ARGUMENT, "safetensors: expected data that fits in 62 bits, got more");
        entry->end = offset;
    }
    return check_names(writer);
}

static braid_status copy_source(item *from, files_output *out, size_t data_begin, void *piece) {
    XXH3_state_t state;
    size_t bytes = from->entry.end - from->entry.begin;
    XXH3_64bits_reset(&state);
    for (size_t offset = 0, part; offset < bytes; offset += part) {
        part = bytes - offset < PIECE_BYTES ? bytes - offset : PIECE_BYTES;
        TRY(from->source(from->user, offset, piece, part));
        XXH3_64bits_update(&state, piece, part);
        TRY(files_output_write(out, data_begin + from->entry.begin + offset, piece, part));
    }
    from->checksum = XXH3_64bits_digest(&state);
    return BRAID_OK;
}

static braid_status write_items(safetensors_writer *writer, files_output *out, size_t data_begin, void *piece) {
    for (size_t i = 0; i < writer->count; i++) {
        item *from = &writer->items[i];
        size_t bytes = from->entry.end - from->entry.begin;
        if (!from->data) {
            TRY(copy_source(from, out, data_begin, piece));
        } else {
            from->checksum = XXH3_64bits(from->data, bytes);
            TRY(files_output_write(out, data_begin + from->entry.begin, from->data, bytes));
        }
    }
    return BRAID_OK;
}

/* `header` has room for the length and the header itself. */
static braid_status write_all(safetensors_writer *writer, files_output *out, unsigned char *header, size_t length) {
    void *piece;
    TRY(memory_alloc(PIECE_BYTES, 1, "a piece of a model file", &piece));
    braid_status status = write_items(writer, out, LENGTH_BYTES + length, piece);
    memory_free(piece);
    TRY(status);
    builder b = {.to = (char *)header + LENGTH_BYTES};
    put_header(&b, writer);
    for (int i = 0; i < LENGTH_BYTES; i++) header[i] = (unsigned char)((uint64_t)length >> (8 * i));
    return files_output_write(out, 0, header, LENGTH_BYTES + length);
}

braid_status safetensors_writer_write(safetensors_writer *writer, const char *path) {
    files_output out;
    builder measured = {0};
    unsigned char *header;
    TRY(place_items(writer));
    put_header(&measured, writer);
    if (measured.used > SAFETENSORS_MAX_HEADER)
        return fail(BRAID_ERROR_ARGUMENT, "safetensors: expected a header of at most %d bytes, got %zu",
                    SAFETENSORS_MAX_HEADER, measured.used);
    TRY(memory_alloc(LENGTH_BYTES + measured.used, 1, "the header of a model file", (void **)&header));
    braid_status status = files_output_begin(&out, path);
    if (status == BRAID_OK) status = files_output_end(&out, write_all(writer, &out, header, measured.used));
    memory_free(header);
    return status;
}
