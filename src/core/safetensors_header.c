/*
 * The header of a safetensors file, which may be hostile. It is read here and not by core/json because
 * jansson's values take twenty times the memory of such a text, and a header may have 100 MB. There is
 * no recursion: the nesting is fixed, and every other shape of JSON is refused.
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
#include "core/memory.h"
#include "core/safetensors_format.h"
#include "core/sizes.h"

static const char *const dtype_names[BRAID_DTYPE_COUNT] = {
    [BRAID_DTYPE_F32] = "F32", [BRAID_DTYPE_F16] = "F16", [BRAID_DTYPE_BF16] = "BF16", [BRAID_DTYPE_F64] = "F64",
    [BRAID_DTYPE_U8] = "U8",   [BRAID_DTYPE_I32] = "I32", [BRAID_DTYPE_I64] = "I64"};

const char *safetensors_dtype_name(braid_dtype dtype) {
    return (unsigned)dtype < BRAID_DTYPE_COUNT ? dtype_names[dtype] : NULL;
}

int safetensors_is_own_key(const char *key) {
    return strcmp(key, SAFETENSORS_CHECKSUM) == 0 || strcmp(key, SAFETENSORS_MARK) == 0;
}

/* ---- Texts and numbers -------------------------------------------------------------------- */

typedef struct cursor {
    char *text, *at, *end;
    const char *what;
} cursor;

static braid_status fail_here(const cursor *c, const char *expected) {
    if (c->at >= c->end)
        return fail(BRAID_ERROR_MODEL, "%s: expected %s, got the end of the header; the file is damaged", c->what,
                    expected);
    unsigned char got = (unsigned char)*c->at;
    char shown[8];
    snprintf(shown, sizeof shown, got > ' ' && got < 0x7f ? "'%c'" : "0x%02x", got);
    return fail(BRAID_ERROR_MODEL, "%s: expected %s, got %s at byte %zu of the header; the file is damaged", c->what,
                expected, shown, (size_t)(c->at - c->text));
}

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

/* Steps over one character behind spaces, if it is there. */
static bool take(cursor *c, char wanted) {
    skip_space(c);
    if (c->at >= c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static braid_status expect(cursor *c, char wanted) {
    const char text[] = {'\'', wanted, '\'', 0};
    return take(c, wanted) ? BRAID_OK : fail_here(c, text);
}

int safetensors_utf8(const unsigned char *at, const unsigned char *end) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (at >= end) return 0;
    int length = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    if (length < 2 || end - at < length) return length == 1;
    uint32_t code = *at & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code < least[length] || code > 0x10ffff || code >> 11 == 0x1b ? 0 : length;
}

/* Four hexadecimal digits behind "\u". */
static bool read_unit(cursor *c, uint32_t *unit) {
    *unit = 0;
    if (c->end - c->at < 4) return false;
    for (int i = 0; i < 4; i++, c->at++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = *c->at ? strchr(digits, *c->at | 0x20) : NULL;
        if (!digit) return false;
        *unit = *unit << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

/* Writes a character as UTF-8; it takes no more room than its escape did. */
static char *put_character(char *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)((0xf0u << (3 - more)) | code >> (6 * more));
    while (more-- > 0) *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
    return to;
}

/* "\u" and its digits, or two of them that make one character. A zero would end our texts and is refused. */
static braid_status read_coded(cursor *c, char **to) {
    uint32_t code, low;
    if (!read_unit(c, &code) || code == 0 || code >> 10 == 0x37) return fail_here(c, "\\u with a character's number");
    if (code >> 10 == 0x36) {
        bool both = c->end - c->at > 2 && c->at[0] == '\\' && c->at[1] == 'u';
        c->at += both ? 2 : 0;
        if (!both || !read_unit(c, &low) || low >> 10 != 0x37) return fail_here(c, "the second half of a character");
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
    }
    *to = put_character(*to, code);
    return BRAID_OK;
}

static braid_status read_escape(cursor *c, char **to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (c->at < c->end && *c->at == 'u') {
        c->at++;
        return read_coded(c, to);
    }
    const char *letter = c->at < c->end && *c->at ? strchr(letters, *c->at) : NULL;
    if (!letter) return fail_here(c, "an escape of JSON after \\");
    *(*to)++ = meanings[letter - letters];
    c->at++;
    return BRAID_OK;
}

/* A text, decoded in place and ended by a zero byte. */
static braid_status read_text(cursor *c, const char *expected, const char **out) {
    if (!take(c, '"')) return fail_here(c, expected);
    char *start = c->at, *to = c->at;
    while (c->at < c->end && *c->at != '"') {
        if (*c->at == '\\') {
            c->at++;
            TRY(read_escape(c, &to));
            continue;
        }
        int length = safetensors_utf8((const unsigned char *)c->at, (const unsigned char *)c->end);
        if (length == 0 || (unsigned char)*c->at < ' ') return fail_here(c, "a text in UTF-8 without control bytes");
        memmove(to, c->at, (size_t)length);
        to += length;
        c->at += length;
    }
    if (c->at >= c->end) return fail_here(c, "'\"' after a text");
    c->at++;
    *to = 0;
    *out = start;
    return BRAID_OK;
}

/* A number from 0 to INT64_MAX, without sign, fraction, exponent or leading zeros. */
static braid_status read_whole(cursor *c, int64_t *out) {
    skip_space(c);
    char *start = c->at;
    size_t value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (c->at > start && *start == '0') return fail_here(c, "a number without leading zeros");
        if (!size_mul(value, 10, &value) || !size_add(value, (size_t)(*c->at - '0'), &value) || value > INT64_MAX)
            return fail_here(c, "a number below 2^63");
    }
    if (c->at == start) return fail_here(c, "a whole number of 0 or more");
    *out = (int64_t)value;
    return BRAID_OK;
}

/* ---- Tensors and metadata ----------------------------------------------------------------- */

braid_status safetensors_check_name(const char *name, const char *what, const char *kind, braid_status code) {
    size_t length = strlen(name);
    if (length == 0) return fail(code, "%s: expected a name for every %s, got an empty one", what, kind);
    if (length > SAFETENSORS_MAX_NAME)
        return fail(code, "%s: expected the name of a %s to have at most %d bytes, got %zu (\"%.32s...\")", what, kind,
                    SAFETENSORS_MAX_NAME, length, name);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0)) /* the last are U+0080 to U+009F */
            return fail(code, "%s: expected the name of a %s without control characters, got one with 0x%02x", what,
                        kind, *c == 0xc2 ? c[1] : *c);
    return BRAID_OK;
}

bool safetensors_bytes(const safetensors_entry *entry, size_t *bytes) {
    size_t span = dtype_bytes(entry->dtype);
    bool empty = false;
    for (int axis = 0; axis < entry->rank; axis++) {
        empty = empty || entry->dims[axis] == 0;
        if (entry->dims[axis] > 0 && !size_mul(span, (size_t)entry->dims[axis], &span)) return false;
    }
    *bytes = empty ? 0 : span;
    return span <= INT64_MAX;
}

static braid_status read_dtype(cursor *c, const char *tensor, braid_dtype *dtype) {
    const char *name;
    TRY(read_text(c, "the name of a dtype", &name));
    for (int i = 0; i < BRAID_DTYPE_COUNT; i++) {
        *dtype = (braid_dtype)i;
        if (strcmp(name, dtype_names[i]) == 0) return BRAID_OK;
    }
    return fail(BRAID_ERROR_MODEL,
                "%s: tensor \"%.128s\": expected the dtype F64, F32, F16, BF16, I64, I32 or U8, got \"%.16s\"; "
                "convert the tensor to one of them",
                c->what, tensor, name);
}

static braid_status read_shape(cursor *c, safetensors_entry *entry) {
    TRY(expect(c, '['));
    entry->rank = 0;
    if (take(c, ']')) return BRAID_OK;
    do {
        if (entry->rank == SAFETENSORS_MAX_RANK)
            return fail(BRAID_ERROR_MODEL, "%s: tensor \"%.128s\": expected at most %d dimensions, got more", c->what,
                        entry->name, SAFETENSORS_MAX_RANK);
        TRY(read_whole(c, &entry->dims[entry->rank++]));
    } while (take(c, ','));
    return expect(c, ']');
}

static braid_status read_offsets(cursor *c, safetensors_entry *entry) {
    int64_t begin = 0, end = 0;
    TRY(expect(c, '['));
    TRY(read_whole(c, &begin));
    TRY(expect(c, ','));
    TRY(read_whole(c, &end));
    entry->begin = (size_t)begin;
    entry->end = (size_t)end;
    return expect(c, ']');
}

/* One field of a tensor; `seen` has a bit for each. */
static braid_status read_field(cursor *c, safetensors_entry *entry, unsigned *seen) {
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    const char *name;
    unsigned field = 0;
    TRY(read_text(c, "the field of a tensor", &name));
    while (field < 3 && strcmp(name, fields[field]) != 0) field++;
    if (field == 3 || *seen & 1u << field)
        return fail(
            BRAID_ERROR_MODEL,
            "%s: tensor \"%.128s\": expected the fields dtype, shape and data_offsets once each, got \"%.32s\"%s",
            c->what, entry->name, name, field == 3 ? "" : " twice");
    *seen |= 1u << field;
    TRY(expect(c, ':'));
    return field == 0   ? read_dtype(c, entry->name, &entry->dtype)
           : field == 1 ? read_shape(c, entry)
                        : read_offsets(c, entry);
}

static braid_status check_entry(const cursor *c, const safetensors_entry *entry, size_t data_bytes) {
    size_t bytes;
    if (!safetensors_bytes(entry, &bytes))
        return fail(BRAID_ERROR_MODEL,
                    "%s: tensor \"%.128s\": expected a shape whose bytes fit in 63 bits, got a larger one", c->what,
                    entry->name);
    if (entry->begin > entry->end || entry->end > data_bytes)
        return fail(
            BRAID_ERROR_MODEL,
            "%s: tensor \"%.128s\": expected offsets in order and within the %zu bytes of data, got %zu to %zu; the "
            "file is cut or damaged, copy it again",
            c->what, entry->name, data_bytes, entry->begin, entry->end);
    if (entry->end - entry->begin != bytes)
        return fail(BRAID_ERROR_MODEL,
                    "%s: tensor \"%.128s\": expected %zu bytes of data (its shape and dtype), got %zu", c->what,
                    entry->name, bytes, entry->end - entry->begin);
    return BRAID_OK;
}

static braid_status read_tensor(cursor *c, size_t data_bytes, safetensors_entry *entry) {
    unsigned seen = 0;
    TRY(safetensors_check_name(entry->name, c->what, "tensor", BRAID_ERROR_MODEL));
    TRY(expect(c, '{'));
    do TRY(read_field(c, entry, &seen));
    while (take(c, ','));
    TRY(expect(c, '}'));
    if (seen != 7)
        return fail(BRAID_ERROR_MODEL, "%s: tensor \"%.128s\": expected dtype, shape and data_offsets, got fewer",
                    c->what, entry->name);
    return check_entry(c, entry, data_bytes);
}

/* Makes room for one more element and refuses the one after the last allowed. */
static braid_status grow_list(void **list, size_t count, size_t *room, size_t element_bytes, const char *what) {
    if (count == SAFETENSORS_MAX_TENSORS)
        return fail(BRAID_ERROR_MODEL, "%s: expected at most %d tensors and metadata pairs, got more", what,
                    SAFETENSORS_MAX_TENSORS);
    return memory_grow(list, count, room, element_bytes, "the header of a model file");
}

static braid_status read_metadata(cursor *c, safetensors_header *header) {
    size_t room = 0;
    if (header->pairs)
        return fail(BRAID_ERROR_MODEL, "%s: expected " SAFETENSORS_METADATA " once, got it twice", c->what);
    TRY(grow_list((void **)&header->pairs, 0, &room, sizeof *header->pairs, c->what));
    TRY(expect(c, '{'));
    if (take(c, '}')) return BRAID_OK;
    do {
        TRY(grow_list((void **)&header->pairs, header->pair_count, &room, sizeof *header->pairs, c->what));
        safetensors_pair *pair = &header->pairs[header->pair_count++];
        TRY(read_text(c, "a key of the metadata", &pair->key));
        TRY(safetensors_check_name(pair->key, c->what, "metadata text", BRAID_ERROR_MODEL));
        TRY(expect(c, ':'));
        TRY(read_text(c, "a text as metadata", &pair->value));
    } while (take(c, ','));
    return expect(c, '}');
}

static braid_status read_members(cursor *c, size_t data_bytes, safetensors_header *header) {
    size_t room = 0;
    if (take(c, '}')) return BRAID_OK;
    do {
        const char *name;
        TRY(read_text(c, "the name of a tensor", &name));
        TRY(expect(c, ':'));
        if (strcmp(name, SAFETENSORS_METADATA) == 0) {
            TRY(read_metadata(c, header));
            continue;
        }
        TRY(grow_list((void **)&header->entries, header->count, &room, sizeof *header->entries, c->what));
        safetensors_entry *entry = &header->entries[header->count++];
        *entry = (safetensors_entry){.name = name};
        TRY(read_tensor(c, data_bytes, entry));
    } while (take(c, ','));
    return expect(c, '}');
}

/* ---- The whole ---------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b) {
    const safetensors_entry *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const safetensors_entry *const *)a)->name, (*(const safetensors_entry *const *)b)->name);
}

int safetensors_compare_pairs(const void *a, const void *b) {
    return strcmp(((const safetensors_pair *)a)->key, ((const safetensors_pair *)b)->key);
}

/* Every byte of the data belongs to exactly one tensor. */
static braid_status check_cover(const safetensors_header *header, size_t data_bytes, const char *what) {
    size_t covered = 0;
    for (size_t i = 0; i < header->count; i++) {
        const safetensors_entry *entry = &header->entries[i];
        if (entry->begin != covered)
            return fail(BRAID_ERROR_MODEL,
                        "%s: tensor \"%.128s\": expected its data at byte %zu, without %s, got byte %zu", what,
                        entry->name, covered, entry->begin < covered ? "overlap" : "a hole", entry->begin);
        covered = entry->end;
    }
    if (covered == data_bytes) return BRAID_OK;
    return fail(BRAID_ERROR_MODEL, "%s: expected %zu bytes of data (all tensors), got %zu", what, covered, data_bytes);
}

static braid_status sort_names(safetensors_header *header, const char *what) {
    TRY(memory_alloc(header->count, sizeof *header->by_name, "the names of a model file", (void **)&header->by_name));
    for (size_t i = 0; i < header->count; i++) header->by_name[i] = &header->entries[i];
    qsort(header->by_name, header->count, sizeof *header->by_name, compare_names);
    for (size_t i = 1; i < header->count; i++)
        if (compare_names(&header->by_name[i - 1], &header->by_name[i]) == 0)
            return fail(BRAID_ERROR_MODEL, "%s: expected every tensor once, got \"%.128s\" twice", what,
                        header->by_name[i]->name);
    if (header->pair_count > 0)
        qsort(header->pairs, header->pair_count, sizeof *header->pairs, safetensors_compare_pairs);
    for (size_t i = 1; i < header->pair_count; i++)
        if (safetensors_compare_pairs(&header->pairs[i - 1], &header->pairs[i]) == 0)
            return fail(BRAID_ERROR_MODEL, "%s: expected every key of the metadata once, got \"%.128s\" twice", what,
                        header->pairs[i].key);
    return BRAID_OK;
}

static braid_status read_all(cursor *c, size_t data_bytes, safetensors_header *header) {
    if (c->at == c->end || *c->at != '{') return fail_here(c, "'{' as the first byte of the header");
    c->at++;
    TRY(read_members(c, data_bytes, header));
    skip_space(c);
    if (c->at < c->end) return fail_here(c, "nothing but spaces after the header");
    if (header->count > 0) qsort(header->entries, header->count, sizeof *header->entries, compare_places);
    TRY(check_cover(header, data_bytes, c->what));
    return sort_names(header, c->what);
}

braid_status safetensors_header_read(char *text, size_t bytes, size_t data_bytes, const char *what,
                                     safetensors_header *header) {
    cursor c = {.text = text, .at = text, .end = text + bytes, .what = what};
    *header = (safetensors_header){0};
    braid_status status = read_all(&c, data_bytes, header);
    if (status != BRAID_OK) safetensors_header_release(header);
    return status;
}

void safetensors_header_release(safetensors_header *header) {
    memory_free(header->by_name);
    memory_free(header->entries);
    memory_free(header->pairs);
    *header = (safetensors_header){0};
}

/* The zero bytes keep neighbouring texts apart. */
static uint64_t hash_text(uint64_t hash, const char *text) {
    return XXH3_64bits_withSeed(text, strlen(text) + 1, hash);
}

uint64_t safetensors_hash_pair(uint64_t hash, const safetensors_pair *pair) {
    return hash_text(hash_text(hash, pair->key), pair->value);
}

uint64_t safetensors_hash_entry(uint64_t hash, const safetensors_entry *entry) {
    hash = hash_text(hash_text(hash, entry->name), dtype_names[entry->dtype]);
    for (int axis = 0; axis < entry->rank; axis++) {
        char dim[24];
        snprintf(dim, sizeof dim, "%" PRId64, entry->dims[axis]);
        hash = hash_text(hash, dim);
    }
    return hash_text(hash, "");
}
