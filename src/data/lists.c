/*
 * Labels, class names and statistics, see the header. Lines may end in CR LF.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/lists.h"

#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"

typedef struct line {
    const char *text;
    size_t bytes;
} line;

/* Cuts the next line off. 0 at the end. */
static int next_line(const char **at, const char *end, line *out) {
    if (*at == end) return 0;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    const char *stop = newline ? newline : end;
    *out = (line){*at, (size_t)(stop - *at)};
    if (out->bytes && stop[-1] == '\r') out->bytes--;
    *at = newline ? newline + 1 : end;
    return 1;
}

static int64_t count_lines(const char *text, size_t bytes) {
    int64_t count = 0;
    line l;
    for (const char *at = text, *end = text + bytes; next_line(&at, end, &l);) count++;
    return count;
}

/* The whole number that a line begins with, and where it ends; -1: none, or too large. */
static int64_t leading_number(const line *l, size_t *used) {
    int64_t value = 0;
    for (*used = 0; *used < l->bytes && l->text[*used] >= '0' && l->text[*used] <= '9'; ++*used) {
        value = value * 10 + (l->text[*used] - '0');
        if (value > INT32_MAX) return -1;
    }
    return *used ? value : -1;
}

/* ---- Labels ------------------------------------------------------------------------------- */

/* Where the classes are not known (0 of them), any number is one; that they are not is a problem of its own. */
static braid_status read_label(const line *l, int64_t number, int classes, const char *path, problems *found,
                               int32_t *label) {
    size_t used;
    int64_t value = leading_number(l, &used);
    *label = value >= 0 && value < classes && used == l->bytes ? (int32_t)value : -1;
    if (*label >= 0 || (classes == 0 && value >= 0 && used == l->bytes)) return BRAID_OK;
    return problems_add(found, path, "line %lld: expected a class from 0 to %d, got \"%.*s\"", (long long)number,
                        classes - 1, (int)(l->bytes < 40 ? l->bytes : 40), l->text);
}

braid_status labels_read(const char *text, size_t bytes, int classes, const char *path, problems *found,
                         int32_t **labels, int64_t *count) {
    void *memory;
    line l;
    int64_t number = 0;
    *labels = NULL;
    *count = count_lines(text, bytes);
    TRY(memory_alloc((size_t)*count, sizeof **labels, "labels", &memory));
    *labels = memory;
    for (const char *at = text, *end = text + bytes; next_line(&at, end, &l); number++)
        TRY(read_label(&l, number + 1, classes, path, found, &(*labels)[number]));
    return BRAID_OK;
}

/* ---- Class names -------------------------------------------------------------------------- */

void class_names_free(char **names, int count) {
    for (int i = 0; names && i < count; i++) memory_free(names[i]);
    memory_free(names);
}

/* A name comes to the terminal as it is. */
static int has_control_characters(const line *l) {
    for (size_t j = 0; j < l->bytes; j++)
        if ((unsigned char)l->text[j] < ' ' || l->text[j] == 0x7f) return 1;
    return 0;
}

static braid_status read_name(const line *l, int64_t number, char **name) {
    size_t used;
    void *memory;
    if (leading_number(l, &used) != number || used + 1 >= l->bytes || l->text[used] != ':')
        return fail(BRAID_ERROR_DATA, "line %lld: expected \"%lld: name\", got \"%.*s\"", (long long)number + 1,
                    (long long)number, (int)(l->bytes < 40 ? l->bytes : 40), l->text);
    if (has_control_characters(l))
        return fail(BRAID_ERROR_DATA, "line %lld: expected a name without control characters, got some",
                    (long long)number + 1);
    used++;
    while (used < l->bytes && l->text[used] == ' ') used++;
    TRY(memory_alloc(l->bytes - used + 1, 1, "the name of a class", &memory));
    memcpy(memory, l->text + used, l->bytes - used);
    *name = memory;
    (*name)[l->bytes - used] = 0;
    return BRAID_OK;
}

braid_status class_names_read(const char *text, size_t bytes, char ***names, int *count) {
    void *memory;
    line l;
    int64_t lines = count_lines(text, bytes), number = 0;
    braid_status status = BRAID_OK;
    *names = NULL;
    *count = 0;
    if (lines < 1 || lines > LISTS_MAX_CLASSES)
        return fail(BRAID_ERROR_DATA, "expected 1 to %d lines \"0: name\", got %lld", LISTS_MAX_CLASSES,
                    (long long)lines);
    TRY(memory_calloc((size_t)lines, sizeof **names, "names of classes", &memory));
    *names = memory;
    *count = (int)lines;
    for (const char *at = text, *end = text + bytes; !status && next_line(&at, end, &l); number++)
        status = read_name(&l, number, &(*names)[number]);
    if (status == BRAID_OK) return BRAID_OK;
    class_names_free(*names, *count);
    *names = NULL;
    *count = 0;
    return status;
}

braid_status class_names_copy(const char *const *from, int count, char ***names) {
    void *memory;
    TRY(memory_calloc((size_t)count, sizeof **names, "names of classes", &memory));
    *names = memory;
    for (int i = 0; i < count; i++) TRY(memory_copy_text(from[i], &(*names)[i]));
    return BRAID_OK;
}

/* ---- Statistics --------------------------------------------------------------------------- */

static braid_status read_numbers(const json_t *object, const char *stream, const char *what, int64_t channels,
                                 double *out) {
    char key[64];
    snprintf(key, sizeof key, "%s_%s", stream, what);
    const json_t *list = json_object_get(object, key);
    if (!list && !strcmp(stream, "orth")) return read_numbers(object, "depth", what, channels, out);
    if (!json_is_array(list) || (int64_t)json_array_size(list) != channels)
        return fail(BRAID_ERROR_DATA, "%s: expected a list of %lld numbers", key, (long long)channels);
    for (int64_t c = 0; c < channels; c++) {
        const json_t *number = json_array_get(list, (size_t)c);
        out[c] = json_number_value(number);
        int is_std = what[0] == 's';
        if (!json_is_number(number) || !(out[c] >= 0 && out[c] <= 1) || (is_std && out[c] < 1e-6))
            return fail(BRAID_ERROR_DATA, "%s: expected numbers from %s to 1, in units of x / 255", key,
                        is_std ? "1e-6" : "0");
    }
    return BRAID_OK;
}

static braid_status read_streams(const json_t *object, braid_data_info *info) {
    if (!json_is_object(object)) return fail(BRAID_ERROR_DATA, "expected an object");
    for (int i = 0; i < info->streams; i++) {
        TRY(read_numbers(object, info->stream_names[i], "mean", info->channels[i], info->mean[i]));
        TRY(read_numbers(object, info->stream_names[i], "std", info->channels[i], info->std[i]));
    }
    return BRAID_OK;
}

braid_status norm_stats_read(const char *text, size_t bytes, braid_data_info *info) {
    json_t *object;
    TRY(json_read(text, bytes, "statistics", BRAID_ERROR_DATA, &object));
    braid_status status = read_streams(object, info);
    json_decref(object);
    return status;
}

void norm_stats_unknown(braid_data_info *info) {
    for (int i = 0; i < info->streams; i++)
        for (int64_t c = 0; c < info->channels[i]; c++) {
            info->mean[i][c] = 0.5;
            info->std[i][c] = 0.25;
        }
}
