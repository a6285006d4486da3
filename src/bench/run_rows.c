/*
 * Reading rows. Files may come from anywhere: sizes are bounded, and a cell that is no number is no time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/run_rows.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/reals.h"

#define MOST_BYTES ((size_t)64 << 20)
#define MOST_ROWS 1000000
#define MOST_PATH 4096

/* What is read of a row. */
enum { PROBLEM, KERNEL, DEVICE, DTYPE, BUFFERS, VERDICT, MEDIAN, LOW, HIGH, FIELDS };
static const char *const names[FIELDS] = {"problem", "kernel",    "device", "dtype",  "buffers",
                                          "verdict", "median_ms", "low_ms", "high_ms"};

/* ---- Rows --------------------------------------------------------------------------------- */

static double number_of(const char *text) {
    char *end = NULL;
    const double value = text ? real_read(text, &end) : NAN;
    return text && end != text && isfinite(value) && value > 0 ? value : NAN;
}

static int is_chosen(const char *verdict) { return verdict && strstr(verdict, "chosen") != NULL; }

static braid_status make_key(const char *const cells[FIELDS], int chosen, run_row *row) {
    const char *kernel = chosen ? "chosen" : cells[KERNEL], *buffers = cells[BUFFERS] ? cells[BUFFERS] : "";
    const char *device = cells[DEVICE] ? cells[DEVICE] : "", *dtype = cells[DTYPE] ? cells[DTYPE] : "";
    const size_t problem_bytes = strlen(cells[PROBLEM]) + 1, kernel_bytes = strlen(kernel) + 1;
    const size_t rest = strlen(device) + strlen(dtype) + strlen(buffers) + 3;
    LAB_TRY(lab_new(problem_bytes + kernel_bytes + rest + problem_bytes + kernel_bytes, (void **)&row->key));
    snprintf(row->key, problem_bytes + kernel_bytes + rest, "%s %s %s %s %s", cells[PROBLEM], kernel, device, dtype,
             *buffers && strcmp(buffers, "cold") != 0 ? buffers : "");
    row->problem = row->key + problem_bytes + kernel_bytes + rest;
    row->kernel = row->problem + problem_bytes;
    memcpy(row->problem, cells[PROBLEM], problem_bytes);
    memcpy(row->kernel, kernel, kernel_bytes);
    return BRAID_OK;
}

/* Adds what has a time; and of the chosen kernels, where they are asked for, those alone. */
static braid_status add_row(const char *const cells[FIELDS], int chosen, run_rows *out) {
    run_row row = {.order = out->count, .median = number_of(cells[MEDIAN])};
    if (!cells[PROBLEM] || !cells[KERNEL] || isnan(row.median) || (chosen && !is_chosen(cells[VERDICT])))
        return BRAID_OK;
    if (out->count >= MOST_ROWS) return lab_fail(BRAID_ERROR_DATA, "expected at most %d rows, got more", MOST_ROWS);
    row.low = fmin(row.median, number_of(cells[LOW]));
    row.high = fmax(row.median, number_of(cells[HIGH]));
    if ((out->count & (out->count - 1)) == 0)
        LAB_TRY(lab_resize((void **)&out->rows, out->count ? 2 * (size_t)out->count : 1, sizeof row));
    LAB_TRY(make_key(cells, chosen, &row));
    out->rows[out->count++] = row;
    return BRAID_OK;
}

static int by_key(const void *a, const void *b) {
    const run_row *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and of rows with one key keeps the last. */
static void settle(run_rows *r) {
    int kept = 0;
    if (r->count) qsort(r->rows, (size_t)r->count, sizeof *r->rows, by_key);
    for (int i = 0; i < r->count; i++) {
        if (i + 1 < r->count && strcmp(r->rows[i].key, r->rows[i + 1].key) == 0)
            free(r->rows[i].key);
        else
            r->rows[kept++] = r->rows[i];
    }
    r->count = kept;
}

const run_row *run_rows_find(const run_rows *rows, const char *key) {
    int low = 0, high = rows->count;
    while (low < high) {
        const int middle = low + (high - low) / 2, order = strcmp(rows->rows[middle].key, key);
        if (order == 0) return &rows->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void free_rows(run_rows *r) {
    for (int i = 0; i < r->count; i++) free(r->rows[i].key);
    free(r->rows);
    *r = (run_rows){0};
}

/* ---- csv ---------------------------------------------------------------------------------- */

#define MOST_CELLS 64

/* Splits a line in place; quotes as RFC 4180 has them, without line ends inside. Returns the cells. */
static int split(char *line, char *cells[MOST_CELLS]) {
    int count = 0;
    for (char *at = line; count < MOST_CELLS;) {
        char *to = at;
        cells[count++] = to;
        const int quoted = *at == '"';
        if (quoted) at++;
        while (*at && (quoted || *at != ',')) {
            if (quoted && *at == '"' && *++at != '"') break;
            *to++ = *at++;
        }
        const int more = *at == ',';
        if (*at) at++;
        *to = 0;
        if (!more) return count;
    }
    return count;
}

/* Where each field stands in the heading; 0: it is no heading. */
static int read_heading(char *const *cells, int count, int column[FIELDS]) {
    for (int f = 0; f < FIELDS; f++) column[f] = -1;
    for (int i = 0; i < count; i++)
        for (int f = 0; f < FIELDS; f++)
            if (strcmp(cells[i], names[f]) == 0) column[f] = i;
    return column[PROBLEM] >= 0 && column[KERNEL] >= 0 && column[MEDIAN] >= 0;
}

/* What stands before a heading, and lines of another length, are words about the rows. */
static braid_status parse_csv(char *text, int chosen, run_rows *out) {
    char *cells[MOST_CELLS];
    int column[FIELDS] = {0}, width = 0;
    for (char *line = text, *next; line && *line; line = next) {
        const char *fields[FIELDS] = {0};
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line[strcspn(line, "\r")] = 0;
        const int count = split(line, cells), is_heading = strcmp(cells[0], names[PROBLEM]) == 0;
        if (is_heading) width = read_heading(cells, count, column) ? count : 0;
        if (is_heading || count != width) continue;
        for (int f = 0; f < FIELDS; f++) fields[f] = column[f] >= 0 ? cells[column[f]] : NULL;
        LAB_TRY(add_row(fields, chosen, out));
    }
    return BRAID_OK;
}

/* ---- json --------------------------------------------------------------------------------- */

static braid_status add_object(const json_t *object, int chosen, run_rows *out) {
    char numbers[FIELDS][32];
    const char *fields[FIELDS] = {0};
    for (int f = 0; f < FIELDS; f++) {
        const json_t *value = json_object_get(object, names[f]);
        real_format(numbers[f], sizeof numbers[f], "%.17g", json_number_value(value));
        fields[f] = json_is_string(value) ? json_string_value(value) : json_is_number(value) ? numbers[f] : NULL;
    }
    return add_row(fields, chosen, out);
}

/* A list of rows, or a run with such a list. */
static braid_status parse_json(const char *text, size_t bytes, int chosen, run_rows *out) {
    json_t *json = NULL;
    LAB_TRY(lab_from_braid(json_read(text, bytes, "rows", BRAID_ERROR_DATA, &json)));
    const json_t *list = json_is_array(json) ? json : json_object_get(json, "rows");
    braid_status status = json_is_array(list) ? BRAID_OK : lab_fail(BRAID_ERROR_DATA, "expected a list of rows");
    for (size_t i = 0; i < json_array_size(list) && !status; i++)
        status = add_object(json_array_get(list, i), chosen, out);
    json_decref(json);
    return status;
}

braid_status run_rows_parse(const char *text, size_t bytes, int is_json, int chosen, run_rows *out) {
    char *copy = NULL;
    *out = (run_rows){0};
    if (!is_json) {
        LAB_TRY(lab_new(bytes + 1, (void **)&copy));
        if (bytes) memcpy(copy, text, bytes);
    }
    braid_status status = is_json ? parse_json(text, bytes, chosen, out) : parse_csv(copy, chosen, out);
    free(copy);
    if (status) free_rows(out);
    settle(out);
    return status;
}

/* ---- Files and folders -------------------------------------------------------------------- */

static int ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static braid_status read_file(const char *path, int chosen, run_side *side) {
    char *text = NULL;
    size_t bytes = 0;
    if (side->count >= RUN_ROWS_MOST_RUNS)
        return lab_fail(BRAID_ERROR_DATA, "%s: expected at most %d runs of a side", path, RUN_ROWS_MOST_RUNS);
    LAB_TRY(lab_from_braid(files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &text, &bytes)));
    run_rows *run = &side->runs[side->count];
    braid_status status = run_rows_parse(text, bytes, ends_with(path, ".json"), chosen, run);
    memory_free(text);
    if (status) {
        char why[512];
        snprintf(why, sizeof why, "%s", braid_lab_message());
        return lab_fail(status, "%s: %s", path, why);
    }
    if (run->count == 0) {
        free_rows(run);
        return lab_fail(BRAID_ERROR_DATA, "%s: expected rows of braid bench (csv or json) with times, got none%s", path,
                        chosen ? " of a chosen kernel" : "");
    }
    side->count++;
    return BRAID_OK;
}

/* The floor of noise between runs of a run's machine, "2.3 %"; 0: it does not tell. */
static double floor_of(const json_t *run) {
    size_t index;
    const json_t *row;
    double percent = 0;
    json_array_foreach(json_object_get(run, "machine"), index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *value = json_string_value(json_object_get(row, "value"));
        if (name && value && strcmp(name, "between runs") == 0) percent = number_of(value);
    }
    return percent > 0 && percent < 100 ? percent / 100 : 0;
}

/* A run.json that cannot be read tells nothing; its rows are not looked at here. */
static void take_floor(const char *folder, run_side *side) {
    char path[MOST_PATH], *text = NULL;
    size_t bytes = 0;
    json_t *json = NULL;
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (files_read(path, MOST_BYTES, BRAID_ERROR_DATA, &text, &bytes) != BRAID_OK) return;
    if (json_read(text, bytes, "run", BRAID_ERROR_DATA, &json) == BRAID_OK)
        side->floor = fmax(side->floor, floor_of(json));
    json_decref(json);
    memory_free(text);
}

static int is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The file of rows of a run folder; 0: it is none. */
static int run_file(const char *folder, char path[MOST_PATH]) {
    static const char *const files[] = {"results.csv", "run.json"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, MOST_PATH, "%s/%s", folder, files[i]);
        if (is_file(path)) return 1;
    }
    return 0;
}

static braid_status read_folder(const char *folder, int chosen, run_side *side) {
    struct dirent **entries = NULL;
    char path[MOST_PATH], inner[MOST_PATH];
    if (run_file(folder, path)) {
        take_floor(folder, side);
        return read_file(path, chosen, side);
    }
    const int count = scandir(folder, &entries, NULL, alphasort);
    braid_status status = BRAID_OK;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && !status) {
            if (run_file(path, inner)) {
                take_floor(path, side);
                status = read_file(inner, chosen, side);
            } else if (is_file(path) && ends_with(path, ".csv"))
                status = read_file(path, chosen, side);
        }
        free(entries[i]);
    }
    free(entries);
    if (status || side->count) return status;
    return lab_fail(BRAID_ERROR_DATA,
                    "%s: expected results.csv or run.json in it or in its folders (braid bench --out writes them)",
                    folder);
}

braid_status run_side_read(const char *path, int chosen, run_side *out) {
    struct stat info;
    out->count = 0;
    out->floor = 0;
    if (stat(path, &info) != 0) return lab_fail(BRAID_ERROR_DATA, "%s: expected a file or a folder, got nothing", path);
    braid_status status = S_ISDIR(info.st_mode) ? read_folder(path, chosen, out) : read_file(path, chosen, out);
    if (status) run_side_free(out);
    return status;
}

void run_side_free(run_side *side) {
    for (int i = 0; i < side->count; i++) free_rows(&side->runs[i]);
    side->count = 0;
}
