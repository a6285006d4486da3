/*
 * metrics.jsonl. Lines are written by hand, because a person reads them: fields in the order in which they were
 * given, numbers with as few digits as tell them apart. Lines that are no row but whole are left alone: someone put
 * them there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/sizes.h"

#define MOST_BYTES ((size_t)1 << 31) /* of a file */
#define MOST_NAME 128
#define HEAD_BYTES 128  /* more than the kind, the epoch and the step take */
#define NUMBER_BYTES 32 /* more than a number and its comma take */

/* ---- Lines -------------------------------------------------------------------------------- */

/* One line of a text, without its end. */
typedef struct line {
    const char *text;
    size_t bytes;
    bool whole; /* it has an end */
} line;

/* Cuts the first line off. False: there is none. */
static bool next_line(const char **at, const char *end, line *out) {
    if (*at >= end) return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *out = (line){.text = *at, .bytes = (size_t)((newline ? newline : end) - *at), .whole = newline != NULL};
    *at = newline ? newline + 1 : end;
    return true;
}

/* The row of a line, NULL where it is no JSON object. Fails for want of memory alone. */
static braid_status read_row(const line *l, json_t **row) {
    braid_status status = json_read(l->text, l->bytes, "a row of the history", BRAID_ERROR_DATA, row);
    if (status == BRAID_OK && !json_is_object(*row)) {
        json_decref(*row);
        *row = NULL;
    }
    return status == BRAID_ERROR_DATA ? BRAID_OK : status;
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* A run that goes on gets another summary. */
static bool is_summary(const json_t *row) {
    const char *kind = json_string_value(json_object_get(row, "kind"));
    return kind && !strcmp(kind, HISTORY_SUMMARY);
}

static bool is_behind(const json_t *row, history_place last) {
    return !is_summary(row) && json_integer_value(json_object_get(row, "step")) <= last.step &&
           json_integer_value(json_object_get(row, "epoch")) <= last.epoch;
}

/* The last line goes where it has no end or is no row; any other where its epoch or step is still to come: an epoch can
 * have its row while the checkpoint is still of its last step. */
static braid_status is_kept(const line *l, bool is_last, history_place last, bool *kept, bool *summary) {
    json_t *row;
    *kept = l->whole;
    if (!l->whole) return BRAID_OK;
    TRY(read_row(l, &row));
    *summary |= is_summary(row);
    *kept = row ? is_behind(row, last) : !is_last;
    json_decref(row);
    return BRAID_OK;
}

/* Moves the lines that are kept to the front of the text. */
static braid_status drop_lines(char *text, history_place last, size_t *bytes, bool *summary) {
    const char *at = text, *end = text + *bytes;
    size_t used = 0;
    line l;
    while (next_line(&at, end, &l)) {
        bool kept;
        TRY(is_kept(&l, at == end, last, &kept, summary));
        if (!kept) continue;
        memmove(text + used, l.text, l.bytes + 1);
        used += l.bytes + 1;
    }
    *bytes = used;
    return BRAID_OK;
}

/* Leaves the file with the lines that are kept. */
static braid_status mend(const char *path, history_place last, size_t *bytes, bool *summary) {
    char *text;
    struct stat info;
    *bytes = 0;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) /* it would not be followed later */
        return fail(BRAID_ERROR_DISK, "%s: expected a file, got a symbolic link, which is not followed; remove it",
                    path);
    if (access(path, F_OK) != 0) return BRAID_OK;
    files_forget_fault();
    TRY(files_blame_system(files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &text, bytes)));
    size_t before = *bytes;
    braid_status status = BRAID_OK;
    if (last.step < 0)
        *bytes = 0;
    else
        status = drop_lines(text, last, bytes, summary);
    if (status == BRAID_OK && *bytes != before) status = files_replace(path, text, *bytes);
    memory_free(text);
    return status;
}

braid_status history_open(history *h, const char *path, history_place last) {
    size_t bytes;
    bool summary = false;
    *h = (history){0};
    TRY(mend(path, last, &bytes, &summary));
    h->had_summary = summary;
    TRY(memory_copy_text(path, &h->path));
    files_growing_open(&h->file, h->path, bytes);
    return BRAID_OK;
}

bool history_is_first_row(const char *path) {
    static const char start[] = "{\"kind\":\"" HISTORY_EPOCH "\",\"epoch\":1,";
    char *text;
    size_t bytes, known = sizeof start - 1;
    const fail_kept kept = fail_keep();
    if (files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &text, &bytes) != BRAID_OK) {
        fail_put_back(&kept);
        return false;
    }
    const char *newline = memchr(text, '\n', bytes);
    bool is_first = memcmp(text, start, bytes < known ? bytes : known) == 0;
    is_first = is_first && (!newline || newline == text + bytes - 1);
    memory_free(text);
    return is_first;
}

braid_status history_drop(history *h, history_place last) {
    char *path = h->path;
    files_growing_close(&h->file);
    braid_status status = history_open(h, path, last);
    memory_free(path);
    return status;
}

braid_status history_sync(history *h) { return files_growing_sync(&h->file); }

void history_close(history *h) {
    files_growing_close(&h->file);
    memory_free(h->path);
    *h = (history){0};
}

/* ---- Adding ------------------------------------------------------------------------------- */

typedef struct text {
    char *data;
    size_t used, room;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = real_format_list(t->data + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    if (length > 0) t->used += (size_t)length;
}

static void put_number(text *t, double value) {
    char real[REAL_TEXT_BYTES];
    if (isfinite(value))
        real_print(real, sizeof real, value);
    else
        snprintf(real, sizeof real, "null");
    put(t, "%s", real);
}

static braid_status put_json(text *t, const json_t *value) {
    char *data;
    size_t bytes;
    TRY(json_write(value, &data, &bytes));
    put(t, "%s", data);
    memory_free(data);
    return BRAID_OK;
}

static braid_status put_value(text *t, const history_value *v) {
    put(t, ",\"%s\":", v->name);
    if (v->json) return put_json(t, v->json);
    if (!v->list) put_number(t, v->value);
    for (int i = 0; v->list && i < v->count; i++) {
        put(t, i ? "," : "[");
        put_number(t, v->list[i]);
    }
    if (v->list) put(t, v->count > 0 ? "]" : "[]");
    return BRAID_OK;
}

static bool is_name(const char *name) {
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return letters > 0 && letters <= MOST_NAME && !name[letters];
}

/* What every row begins with. */
static bool is_head(const char *name) {
    return !strcmp(name, "kind") || !strcmp(name, "epoch") || !strcmp(name, "step");
}

/* Room for a value, and its name checked. */
static braid_status add_room(const history_value *v, size_t *room) {
    size_t numbers = 1;
    if (!v->name || !is_name(v->name) || is_head(v->name))
        return fail(BRAID_ERROR_ARGUMENT,
                    "history: expected a name of letters, digits and underscores other than kind, epoch and step, "
                    "got \"%s\"",
                    v->name ? v->name : "");
    if (v->list && v->count > 0) numbers = (size_t)v->count;
    if (!size_mul(numbers, NUMBER_BYTES, &numbers) || !size_add(*room, numbers + MOST_NAME, room) ||
        !size_add(*room, json_length(v->json), room))
        return fail(BRAID_ERROR_MEMORY, "history: expected a row that fits in memory");
    return BRAID_OK;
}

static braid_status put_row(text *t, const history_row *row) {
    put(t, "{\"kind\":\"%s\",\"epoch\":%" PRId64 ",\"step\":%" PRId64, row->kind, row->epoch, row->step);
    for (int i = 0; i < row->count; i++) TRY(put_value(t, &row->values[i]));
    put(t, "}\n");
    if (t->used >= t->room) return fail(BRAID_ERROR_MEMORY, "history: a row does not fit in its room");
    return BRAID_OK;
}

braid_status history_add(history *h, const history_row *row) {
    text t = {.room = HEAD_BYTES + MOST_NAME};
    void *memory;
    if (!row->kind || !is_name(row->kind))
        return fail(BRAID_ERROR_ARGUMENT, "history: expected a kind of letters, digits and underscores, got \"%s\"",
                    row->kind ? row->kind : "");
    for (int i = 0; i < row->count; i++) TRY(add_room(&row->values[i], &t.room));
    TRY(memory_alloc(t.room, 1, "a row of the history", &memory));
    t.data = memory;
    braid_status status = put_row(&t, row);
    if (status == BRAID_OK) status = files_growing_add(&h->file, t.data, t.used);
    memory_free(memory);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* A list that has `length` entries, in the object under a name; longer ones stay. NULL without memory. */
static json_t *list_of(json_t *columns, const char *name, size_t length) {
    json_t *list = json_object_get(columns, name);
    if (!json_is_array(list)) {
        list = json_array();
        if (json_object_set_new(columns, name, list) != 0) return NULL;
    }
    while (json_array_size(list) < length)
        if (json_array_append_new(list, json_null()) != 0) return NULL;
    return list;
}

static bool add_epoch(json_t *columns, json_t *row, size_t index) {
    const char *name;
    json_t *value;
    json_object_foreach(row, name, value) {
        if (!strcmp(name, "kind")) continue;
        json_t *list = list_of(columns, name, index);
        if (!list || json_array_append(list, value) != 0) return false;
    }
    return true;
}

static bool add_summary(json_t *summary, json_t *row) {
    const char *name;
    json_t *value;
    json_object_foreach(row, name, value) {
        if (is_head(name)) continue;
        if (json_object_set(summary, name, value) != 0) return false;
    }
    return true;
}

static bool pad_lists(json_t *columns, size_t length) {
    const char *name;
    json_t *list;
    json_object_foreach(columns, name, list) if (!list_of(columns, name, length)) return false;
    return true;
}

/* Sorts the rows of a text into columns and summary. */
static braid_status sort_rows(const char *at, size_t bytes, json_t *columns, json_t *summary) {
    const char *end = at + bytes;
    size_t epochs = 0;
    bool added = columns && summary;
    line l;
    while (added && next_line(&at, end, &l)) {
        json_t *row;
        TRY(read_row(&l, &row));
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (kind && l.whole && !strcmp(kind, HISTORY_EPOCH)) added = add_epoch(columns, row, epochs++);
        if (kind && l.whole && !strcmp(kind, HISTORY_SUMMARY)) added = add_summary(summary, row);
        json_decref(row);
    }
    if (!added || !pad_lists(columns, epochs) || json_object_update(columns, summary) != 0)
        return fail(BRAID_ERROR_MEMORY, "history: no memory for its columns");
    return BRAID_OK;
}

braid_status history_read(const char *path, json_t **columns) {
    char *data;
    size_t bytes;
    *columns = NULL;
    TRY(files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &data, &bytes));
    json_t *sorted = json_object(), *summary = json_object();
    braid_status status = sort_rows(data, bytes, sorted, summary);
    json_decref(summary);
    memory_free(data);
    if (status != BRAID_OK) {
        json_decref(sorted);
        return status;
    }
    *columns = sorted;
    return BRAID_OK;
}
