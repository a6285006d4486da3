/*
 * Strict JSON. Depth and values are counted over the raw text before jansson sees it: jansson recurses by depth (its
 * own limit is 2048), and takes up to 250 bytes for a value of three. Writing asks for the size first, so that the text
 * is ours to free.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "core/sizes.h"

#define WRITE_FLAGS (JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17))

/* The deepest nesting of brackets outside strings, and how many values there may be at most: one after each bracket and
 * comma. Exact for the depth of valid text; invalid text is refused later anyway. */
static size_t nesting_depth(const char *text, size_t bytes, size_t *values) {
    size_t depth = 0, deepest = 0;
    bool in_string = false;
    *values = 1;
    for (size_t i = 0; i < bytes; i++) {
        if (in_string) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                in_string = false;
        } else if (text[i] == '"') {
            in_string = true;
        } else if (text[i] == '[' || text[i] == '{') {
            if (++depth > deepest) deepest = depth;
            ++*values;
        } else if (text[i] == ',') {
            ++*values;
        } else if ((text[i] == ']' || text[i] == '}') && depth > 0) {
            depth--;
        }
    }
    return deepest;
}

braid_status json_read(const char *text, size_t bytes, const char *what, braid_status code, json_t **out) {
    json_error_t error;
    *out = NULL;
    if (!text || bytes == 0) return fail(code, "%s: expected JSON, got an empty text", what);
    if (bytes > JSON_MAX_BYTES)
        return fail(code, "%s: expected JSON of at most %zu bytes, got %zu", what, JSON_MAX_BYTES, bytes);
    if (memchr(text, 0, bytes)) /* jansson would take it for the end and not look behind it */
        return fail(code, "%s: expected JSON, got a text with a zero byte", what);
    size_t values, depth = nesting_depth(text, bytes, &values);
    if (values > JSON_MAX_VALUES)
        return fail(code, "%s: expected JSON of at most %d values, got about %zu", what, JSON_MAX_VALUES, values);
    if (depth > JSON_MAX_DEPTH)
        return fail(code, "%s: expected JSON nested at most %d deep, got %zu", what, JSON_MAX_DEPTH, depth);
    const locale_t before = real_enter_c(); /* jansson calls strtod and snprintf */
    *out = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    real_leave_c(before);
    if (*out) return BRAID_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return fail(BRAID_ERROR_MEMORY, "%s: no memory to read the JSON", what);
    return fail(code, "%s: expected valid JSON, got line %d column %d: %s", what, error.line, error.column, error.text);
}

static const char *kind_of(const json_t *value) {
    if (!value) return "nothing";
    switch (json_typeof(value)) {
        case JSON_OBJECT: return "an object";
        case JSON_ARRAY: return "an array";
        case JSON_STRING: return "a text";
        case JSON_INTEGER: return "an integer";
        case JSON_REAL: return "a real number";
        case JSON_TRUE: return "true";
        case JSON_FALSE: return "false";
        case JSON_NULL: return "null";
    }
    return "an unknown kind";
}

static braid_status fail_field(const json_t *object, const char *field, const char *expected) {
    if (!json_is_object(object))
        return fail(BRAID_ERROR_DATA, "JSON: expected an object with the field \"%s\", got %s", field, kind_of(object));
    return fail(BRAID_ERROR_DATA, "JSON field \"%s\": expected %s, got %s", field, expected,
                kind_of(json_object_get(object, field)));
}

braid_status json_get_text(const json_t *object, const char *field, const char **out) {
    const json_t *value = json_object_get(object, field);
    if (!json_is_string(value)) return fail_field(object, field, "a text");
    *out = json_string_value(value);
    return BRAID_OK;
}

braid_status json_get_number(const json_t *object, const char *field, double *out) {
    const json_t *value = json_object_get(object, field);
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return fail_field(object, field, "a finite number");
    *out = json_number_value(value);
    return BRAID_OK;
}

braid_status json_get_integer(const json_t *object, const char *field, int64_t *out) {
    const json_t *value = json_object_get(object, field);
    if (!json_is_integer(value)) return fail_field(object, field, "an integer");
    *out = json_integer_value(value);
    return BRAID_OK;
}

braid_status json_get_array(const json_t *object, const char *field, json_t **out) {
    json_t *value = json_object_get(object, field);
    if (!json_is_array(value)) return fail_field(object, field, "an array");
    *out = value;
    return BRAID_OK;
}

/* In the C locale. 0: jansson refused, or had no memory. */
static size_t dump(const json_t *value, char *text, size_t room) {
    const locale_t before = real_enter_c();
    size_t length = json_dumpb(value, text, room, WRITE_FLAGS);
    real_leave_c(before);
    return length;
}

size_t json_length(const json_t *value) { return value ? dump(value, NULL, 0) : 0; }

/* A NULL value is what jansson's builders give when they have no memory. */
braid_status json_write(const json_t *value, char **text, size_t *bytes) {
    size_t length = json_length(value), room;
    void *memory;
    *text = NULL;
    *bytes = 0;
    if (length == 0 || !size_add(length, 1, &room))
        return fail(BRAID_ERROR_MEMORY,
                    "JSON: expected a value that can be written, got %s; most likely there was no memory",
                    value ? "one that jansson refused" : "NULL");
    TRY(memory_alloc(room, 1, "JSON text", &memory));
    char *buffer = memory;
    if (dump(value, buffer, length) != length) {
        memory_free(buffer);
        return fail(BRAID_ERROR_MEMORY, "JSON: no memory to write the value");
    }
    buffer[length] = 0;
    *text = buffer;
    *bytes = length;
    return BRAID_OK;
}
