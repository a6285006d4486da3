/*
 * braid_history: what history_read gives, as numbers of C. Everything is allocated when a history is opened.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "braid_train.h"
#include "core/json.h"
#include "core/memory.h"
#include "train/history.h"

#define PATH_BYTES 4096
#define NAME_BYTES 160

typedef struct column {
    char name[NAME_BYTES];
    double *values; /* one for each epoch */
} column;

struct braid_history {
    size_t epochs, count;
    column *columns;
    char *summary;
};

/* ---- Columns ------------------------------------------------------------------------------ */

/* How many numbers a row of a list has: 0 where each is one by itself. */
static size_t row_width(const json_t *list) {
    size_t row, width = 0;
    json_t *value;
    json_array_foreach(list, row, value) if (json_array_size(value) > width) width = json_array_size(value);
    return width;
}

static size_t count_columns(json_t *all) {
    const char *name;
    json_t *list;
    size_t count = 0;
    json_object_foreach(all, name, list) if (json_is_array(list)) {
        size_t width = row_width(list);
        count += width ? width : 1;
    }
    return count;
}

/* The numbers of a list, or entry `entry` of each of its rows. */
static braid_status add_column(braid_history *h, const char *name, const json_t *list, const size_t *entry) {
    column *c = &h->columns[h->count];
    size_t row;
    json_t *value;
    TRY(memory_calloc(h->epochs + 1, sizeof *c->values, "a column of the history", (void **)&c->values));
    h->count++;
    int length =
        entry ? snprintf(c->name, NAME_BYTES, "%s_%zu", name, *entry) : snprintf(c->name, NAME_BYTES, "%s", name);
    if (length >= NAME_BYTES)
        return fail(BRAID_ERROR_DATA, "expected names of less than %d letters, got more", NAME_BYTES);
    json_array_foreach(list, row, value) {
        const json_t *number = entry ? json_array_get(value, *entry) : value;
        if (row < h->epochs) c->values[row] = json_is_number(number) ? json_number_value(number) : NAN;
    }
    return BRAID_OK;
}

static braid_status add_columns(braid_history *h, json_t *all) {
    const char *name;
    json_t *list;
    json_object_foreach(all, name, list) {
        if (!json_is_array(list)) continue;
        size_t width = row_width(list);
        if (!width) TRY(add_column(h, name, list, NULL));
        for (size_t entry = 0; entry < width; entry++) TRY(add_column(h, name, list, &entry));
    }
    return BRAID_OK;
}

/* What is no column is of the summary. */
static braid_status keep_summary(braid_history *h, json_t *all) {
    const char *name;
    json_t *value;
    size_t bytes;
    json_t *summary = json_object();
    bool kept = summary != NULL;
    json_object_foreach(all, name, value) {
        if (kept && !json_is_array(value)) kept = json_object_set(summary, name, value) == 0;
    }
    braid_status status = kept ? json_write(summary, &h->summary, &bytes)
                               : fail(BRAID_ERROR_MEMORY, "history: no memory for its summary");
    json_decref(summary);
    return status;
}

static braid_status fill(braid_history *h, json_t *all) {
    h->epochs = json_array_size(json_object_get(all, "epoch"));
    TRY(memory_calloc(count_columns(all) + 1, sizeof *h->columns, "columns of the history", (void **)&h->columns));
    TRY(add_columns(h, all));
    return keep_summary(h, all);
}

/* ---- Calls -------------------------------------------------------------------------------- */

braid_status braid_history_open(const char *folder, braid_history **h) {
    char path[PATH_BYTES];
    json_t *all;
    braid_history *made = NULL;
    if (!folder || !h)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_history_open: expected a folder and a place for the history, got NULL");
    *h = NULL;
    if (snprintf(path, sizeof path, "%s/metrics.jsonl", folder) >= PATH_BYTES)
        return fail(BRAID_ERROR_ARGUMENT, "braid_history_open: expected a path of less than %d bytes, got %zu",
                    PATH_BYTES, strlen(folder));
    files_forget_fault();
    TRY(files_blame_system(history_read(path, &all)));
    braid_status status = memory_calloc(1, sizeof *made, "a history", (void **)&made);
    if (!status) status = fill(made, all);
    json_decref(all);
    if (status)
        braid_history_destroy(made);
    else
        *h = made;
    return status;
}

void braid_history_destroy(braid_history *h) {
    if (!h) return;
    for (size_t j = 0; j < h->count; j++) memory_free(h->columns[j].values);
    memory_free(h->columns);
    memory_free(h->summary);
    memory_free(h);
}

int64_t braid_history_epochs(const braid_history *h) { return h ? (int64_t)h->epochs : 0; }

int braid_history_count(const braid_history *h) { return h ? (int)h->count : 0; }

const char *braid_history_name(const braid_history *h, int index) {
    return index >= 0 && index < braid_history_count(h) ? h->columns[index].name : NULL;
}

const double *braid_history_values(const braid_history *h, const char *name) {
    for (int j = 0; name && j < braid_history_count(h); j++)
        if (!strcmp(h->columns[j].name, name)) return h->columns[j].values;
    return NULL;
}

const char *braid_history_summary(const braid_history *h) { return h ? h->summary : NULL; }
