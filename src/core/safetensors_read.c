/*
 * Reading safetensors. The header is read whole and checked before anything else is allocated; data is read
 * tensor by tensor with pread, so that a file that is cut under our hands is an error and no signal.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors_format.h"
#include "core/sizes.h"

#define LENGTH_BYTES 8
#define PIECE_BYTES ((size_t)1 << 18) /* of safetensors_verify */
#define MEMORY_NAME "safetensors in memory"

struct safetensors {
    files_input input;           /* closed where the file is in memory */
    const unsigned char *memory; /* borrowed, or NULL */
    size_t bytes;                /* of the whole file */
    size_t data_begin;
    char *path, *text; /* the text of the header */
    safetensors_header header;
    const char *checksums; /* digits of the header and of each tensor, or NULL */
};

static const char *name_of(const safetensors *file) { return file->path ? file->path : MEMORY_NAME; }

static braid_status read_bytes(const safetensors *file, size_t offset, void *to, size_t bytes) {
    if (!file->memory) return files_input_read(&file->input, offset, to, bytes);
    memcpy(to, file->memory + offset, bytes); /* the header was held against the length */
    return BRAID_OK;
}

/* The length of the header, from the first bytes of the file. */
static braid_status read_length(const safetensors *file, size_t *length) {
    unsigned char bytes[LENGTH_BYTES];
    uint64_t value = 0;
    if (file->bytes < LENGTH_BYTES)
        return fail(BRAID_ERROR_MODEL, "%s: expected a safetensors file of at least %d bytes, got %zu", name_of(file),
                    LENGTH_BYTES, file->bytes);
    TRY(read_bytes(file, 0, bytes, LENGTH_BYTES));
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) value = value << 8 | bytes[i];
    if (value > SAFETENSORS_MAX_HEADER)
        return fail(BRAID_ERROR_MODEL,
                    "%s: expected a header of at most %d bytes, got %" PRIu64 "; is it a safetensors file?",
                    name_of(file), SAFETENSORS_MAX_HEADER, value);
    if (value > file->bytes - LENGTH_BYTES)
        return fail(BRAID_ERROR_MODEL,
                    "%s: expected a header of %" PRIu64
                    " bytes, got a file that ends after %zu; it was cut, copy it again",
                    name_of(file), value, file->bytes - LENGTH_BYTES);
    *length = (size_t)value;
    return BRAID_OK;
}

static uint64_t hash_header(const safetensors_header *header) {
    uint64_t hash = 0;
    for (size_t i = 0; i < header->pair_count; i++)
        if (strcmp(header->pairs[i].key, SAFETENSORS_CHECKSUM) != 0)
            hash = safetensors_hash_pair(hash, &header->pairs[i]);
    for (size_t i = 0; i < header->count; i++) hash = safetensors_hash_entry(hash, &header->entries[i]);
    return hash;
}

/* Holds a checksum against 16 digits of the file; `part` says of what. */
static braid_status compare_checksum(const safetensors *file, const char *stored, uint64_t hash, const char *part,
                                     const char *name) {
    char digits[SAFETENSORS_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    if (memcmp(digits, stored, SAFETENSORS_DIGITS) == 0) return BRAID_OK;
    return fail(
        BRAID_ERROR_MODEL,
        "%s: %s%.128s: expected the checksum %.16s, got %s; the file is damaged or was changed since braid wrote it: "
        "copy it again, or remove " SAFETENSORS_CHECKSUM " and " SAFETENSORS_MARK
        " from its metadata if the change was meant",
        name_of(file), part, name, stored, digits);
}

static braid_status check_header_checksum(safetensors *file) {
    const char *value = safetensors_metadata(file, SAFETENSORS_CHECKSUM);
    size_t start = strlen(SAFETENSORS_CHECKSUM_START), expected;
    if (!value && !safetensors_metadata(file, SAFETENSORS_MARK)) return BRAID_OK; /* of another program */
    if (!value)
        return fail(BRAID_ERROR_MODEL,
                    "%s: expected " SAFETENSORS_CHECKSUM " in its metadata, as every file that braid wrote has, got "
                    "none; the file is damaged or was changed: copy it again, or remove " SAFETENSORS_MARK
                    " from its metadata if the change was meant",
                    name_of(file));
    if (!size_mul(file->header.count + 1, SAFETENSORS_DIGITS, &expected) || !size_add(expected, start, &expected) ||
        strncmp(value, SAFETENSORS_CHECKSUM_START, start) != 0 || strlen(value) != expected)
        return fail(BRAID_ERROR_MODEL,
                    "%s: metadata " SAFETENSORS_CHECKSUM ": expected \"" SAFETENSORS_CHECKSUM_START
                    "\" and %zu digits, got \"%.24s\"; the file is damaged or was changed",
                    name_of(file), expected - start, value);
    file->checksums = value + start;
    return compare_checksum(file, file->checksums, hash_header(&file->header), "the header", "");
}

static braid_status read_header(safetensors *file) {
    size_t length = 0;
    TRY(read_length(file, &length));
    TRY(memory_alloc(length, 1, "the header of a model file", (void **)&file->text));
    TRY(read_bytes(file, LENGTH_BYTES, file->text, length));
    file->data_begin = LENGTH_BYTES + length;
    TRY(safetensors_header_read(file->text, length, file->bytes - file->data_begin, name_of(file), &file->header));
    return check_header_checksum(file);
}

static braid_status open_path(safetensors *file, const char *path) {
    TRY(memory_copy_text(path, &file->path));
    TRY(files_input_open(&file->input, file->path, BRAID_ERROR_MODEL));
    file->bytes = file->input.bytes;
    return read_header(file);
}

/* Hands out the file, or closes it. */
static braid_status finish_open(safetensors *file, braid_status status, safetensors **out) {
    if (status == BRAID_OK)
        *out = file;
    else
        safetensors_close(file);
    return status;
}

braid_status safetensors_open(const char *path, safetensors **file) {
    safetensors *made;
    *file = NULL;
    if (!path || !*path) return fail(BRAID_ERROR_ARGUMENT, "path: expected the name of a model file, got none");
    TRY(memory_calloc(1, sizeof *made, "a model file", (void **)&made));
    return finish_open(made, open_path(made, path), file);
}

braid_status safetensors_open_memory(const void *data, size_t bytes, safetensors **file) {
    safetensors *made;
    *file = NULL;
    if (!data) return fail(BRAID_ERROR_ARGUMENT, "data: expected the bytes of a safetensors file, got NULL");
    TRY(memory_calloc(1, sizeof *made, "a model file", (void **)&made));
    made->memory = data;
    made->bytes = bytes;
    return finish_open(made, read_header(made), file);
}

void safetensors_close(safetensors *file) {
    if (!file) return;
    files_input_close(&file->input);
    safetensors_header_release(&file->header);
    memory_free(file->text);
    memory_free(file->path);
    memory_free(file);
}

size_t safetensors_count(const safetensors *file) { return file->header.count; }

const safetensors_entry *safetensors_at(const safetensors *file, size_t index) { return &file->header.entries[index]; }

static int compare_name(const void *name, const void *entry) {
    return strcmp(name, (*(const safetensors_entry *const *)entry)->name);
}

const safetensors_entry *safetensors_find(const safetensors *file, const char *name) {
    const safetensors_header *header = &file->header;
    const safetensors_entry *const *found =
        bsearch(name, header->by_name, header->count, sizeof *header->by_name, compare_name);
    return found ? *found : NULL;
}

const char *safetensors_metadata(const safetensors *file, const char *key) {
    const safetensors_header *header = &file->header;
    const safetensors_pair wanted = {.key = key};
    if (header->pair_count == 0) return NULL;
    const safetensors_pair *found =
        bsearch(&wanted, header->pairs, header->pair_count, sizeof *header->pairs, safetensors_compare_pairs);
    return found ? found->value : NULL;
}

size_t safetensors_metadata_count(const safetensors *file) { return file->header.pair_count; }

const char *safetensors_metadata_at(const safetensors *file, size_t index, const char **key) {
    *key = file->header.pairs[index].key;
    return file->header.pairs[index].value;
}

int safetensors_has_checksums(const safetensors *file) { return file->checksums != NULL; }

static braid_status compare_tensor(const safetensors *file, const safetensors_entry *entry, uint64_t hash) {
    size_t index = (size_t)(entry - file->header.entries);
    if (!file->checksums) return BRAID_OK;
    return compare_checksum(file, file->checksums + SAFETENSORS_DIGITS * (index + 1), hash, "tensor ", entry->name);
}

braid_status safetensors_read(const safetensors *file, const safetensors_entry *entry, void *to) {
    size_t bytes = entry->end - entry->begin;
    if (bytes > 0) TRY(read_bytes(file, file->data_begin + entry->begin, to, bytes));
    return compare_tensor(file, entry, XXH3_64bits(to, bytes));
}

static braid_status hash_pieces(const safetensors *file, const safetensors_entry *entry, void *piece, uint64_t *hash) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t at = entry->begin, part; at < entry->end; at += part) {
        part = entry->end - at < PIECE_BYTES ? entry->end - at : PIECE_BYTES;
        TRY(read_bytes(file, file->data_begin + at, piece, part));
        XXH3_64bits_update(&state, piece, part);
    }
    *hash = XXH3_64bits_digest(&state);
    return BRAID_OK;
}

braid_status safetensors_verify(const safetensors *file, const safetensors_entry *entry) {
    void *piece;
    uint64_t hash = 0;
    TRY(memory_alloc(PIECE_BYTES, 1, "a piece of a model file", &piece));
    braid_status status = hash_pieces(file, entry, piece, &hash);
    memory_free(piece);
    return status == BRAID_OK ? compare_tensor(file, entry, hash) : status;
}
