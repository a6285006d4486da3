/*
 * What all sources of an import share: texts, notes, names of splits and formats; and tables and lists of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/within.h"
#include "data/import.h"
#include "data/table_file.h"

/* ---- Texts and notes ----------------------------------------------------------------------- */

braid_status import_keep(import *a, const char *text, const char **kept) {
    import_strings *s = &a->strings;
    TRY(memory_grow((void **)&s->text, s->count, &s->room, sizeof *s->text, "the names of files"));
    TRY(memory_copy_text(text, &s->text[s->count]));
    *kept = s->text[s->count++];
    return BRAID_OK;
}

braid_status import_note(import *a, const char *path, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    real_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!*a->lacks.note) snprintf(a->lacks.note, sizeof a->lacks.note, "%.300s: %.290s", path, text);
    if (a->result->left_out++ >= IMPORT_MOST_NOTES) return BRAID_OK;
    TRY(braid_table_add_text(a->notes, path));
    return braid_table_add_text(a->notes, text);
}

braid_status import_add_file(import *a, const import_file *file) {
    TRY(memory_grow((void **)&a->files, (size_t)a->file_count, &a->file_room, sizeof *a->files, "files"));
    a->files[a->file_count++] = *file;
    return BRAID_OK;
}

braid_status import_stream(import *a, const char *name, int *stream) {
    manifest *m = &a->m;
    for (*stream = 0; *stream < m->streams; ++*stream)
        if (!strcasecmp(m->stream[*stream].name, name)) return BRAID_OK;
    if (m->streams == BRAID_MAX_STREAMS || !*name || strlen(name) >= sizeof m->stream[0].name ||
        strpbrk(name, "=,\"\\/") || !manifest_can_hold(name))
        return fail(BRAID_ERROR_DATA,
                    "expected at most %d streams with names of 1 to 31 letters without = , / \" and \\, got \"%.40s\"",
                    BRAID_MAX_STREAMS, name);
    manifest_stream *s = &m->stream[m->streams++];
    *s = (manifest_stream){.scale = 1, .unit = "-"};
    snprintf(s->name, sizeof s->name, "%s", name);
    return BRAID_OK;
}

int import_leave_out(import *a, const char *name, size_t length, int64_t files) {
    import_unasked *one = a->unasked;
    const import_unasked *end = one + a->unasked_count;
    while (one < end && (strlen(one->name) != length || strncasecmp(one->name, name, length) != 0)) one++;
    if (one == end) {
        if (a->unasked_count == 2 * BRAID_MAX_STREAMS || length >= sizeof one->name) return 0;
        snprintf(one->name, sizeof one->name, "%.*s", (int)length, name);
        a->unasked_count++;
    }
    one->files += files;
    return 1;
}

int import_split_of(const char *name) {
    static const char *const words[BRAID_SPLIT_COUNT][4] = {{"train", "training", "train", "train"},
                                                            {"val", "valid", "validation", "dev"},
                                                            {"test", "testing", "eval", "test"}};
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        for (int j = 0; j < 4; j++)
            if (!strcasecmp(name, words[s][j])) return s;
    return IMPORT_NO_SPLIT;
}

/* ---- Formats ------------------------------------------------------------------------------- */

static const struct {
    const char *ending, *tool;
} formats[] = {{".png", NULL},
               {".jpg", NULL},
               {".jpeg", NULL},
               {".npy", NULL},
               {".tif", "gdal_translate -of PNG, or convert (ImageMagick),"},
               {".tiff", "gdal_translate -of PNG, or convert (ImageMagick),"},
               {".exr", "numpy.save of what OpenEXR or OpenCV reads"},
               {".hdr", "numpy.save of what OpenCV reads"},
               {".webp", "convert (ImageMagick) or dwebp"},
               {".bmp", "convert (ImageMagick)"},
               {".gif", "convert (ImageMagick)"},
               {".heic", "heif-convert"},
               {".jp2", "gdal_translate -of PNG"},
               {".pgm", "convert (ImageMagick)"},
               {".ppm", "convert (ImageMagick)"},
               {".pfm", "numpy.save of what OpenCV reads"},
               {".npz", "numpy.save of each array"},
               {".mat", "numpy.save of what scipy.io.loadmat reads"},
               {".h5", "numpy.save of what h5py reads"}};
#define FORMATS ((int)(sizeof formats / sizeof formats[0]))

static int format_of(const char *name) {
    const char *dot = strrchr(name, '.');
    for (int f = 0; dot && f < FORMATS; f++)
        if (!strcasecmp(dot, formats[f].ending)) return f;
    return -1;
}

int import_is_image(const char *name) {
    const int f = format_of(name);
    return f >= 0 && !formats[f].tool;
}

const char *import_tool_for(const char *name) {
    const int f = format_of(name);
    return f >= 0 ? formats[f].tool : NULL;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* A row of a table or of lists: a file for each of some streams. */
typedef struct row {
    const char *source, *folder; /* of relative paths */
    int64_t number;              /* of the line, from 1 */
    const char *label, *split;
} row;

/* The first one is told where nothing is left. */
static braid_status note_missing(import *a, const row *r, const char *cell) {
    char text[2000];
    if (a->lacks.missing++) return BRAID_OK;
    snprintf(text, sizeof text, "%.900s (line %lld)%s%.900s", cell, (long long)r->number,
             cell[0] == '/' ? "" : ", relative to ", cell[0] == '/' ? "" : r->folder);
    TRY(import_keep(a, text, &a->lacks.file));
    return import_keep(a, r->source, &a->lacks.source);
}

/* Adds one file of a row, or a note where it is none. */
static braid_status add_cell(import *a, const row *r, int stream, const char *cell) {
    struct stat info;
    char key[4200], where[256], *full = NULL;
    import_file file = {.split = IMPORT_NO_SPLIT, .stream = stream};
    snprintf(key, sizeof key, "%.4000s:%012lld", r->source, (long long)r->number);
    snprintf(where, sizeof where, "%.200s line %lld", r->source, (long long)r->number);
    if (!*cell || !manifest_can_hold(cell) || !manifest_can_hold(r->label))
        return import_note(a, where, "expected a %s without control characters, got \"%.60s\"",
                           manifest_can_hold(r->label) ? "file" : "label",
                           manifest_can_hold(r->label) ? cell : r->label);
    if (r->split && *r->split && (file.split = import_split_of(r->split)) == IMPORT_NO_SPLIT)
        return import_note(a, where, "expected train, val or test as its split, got \"%.60s\"", r->split);
    if (!import_is_image(cell)) {
        const char *tool = import_tool_for(cell);
        return import_note(a, cell,
                           tool ? "is of a format that is not read; %s makes one that is"
                                : "expected a file that ends in .png, .jpg or .npy%s",
                           tool ? tool : "");
    }
    TRY(cell[0] == '/' ? memory_copy_text(cell, &full) : files_join(r->folder, cell, &full));
    braid_status status = BRAID_OK;
    if (stat(full, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = note_missing(a, r, cell);
        if (!status)
            status = import_note(a, full, "there is no such file (line %lld of %s)", (long long)r->number, r->source);
    } else {
        status = import_keep(a, full, &file.path);
        if (!status) status = import_keep(a, key, &file.key);
        if (!status) status = import_keep(a, r->label, &file.label);
        if (!status) status = import_add_file(a, &file);
    }
    memory_free(full);
    return status;
}

/* The folder of a file, free of links, which is also the root where there is none yet. */
static braid_status folder_of(import *a, const char *path, char **folder) {
    if (!data_is_file(path)) return fail(BRAID_ERROR_DATA, "%s: expected a file, got nothing of that name", path);
    TRY(within_root(path, folder));
    char *slash = strrchr(*folder, '/');
    slash[slash == *folder] = 0; /* of a file in /, that is its folder */
    return a->root ? BRAID_OK : memory_copy_text(*folder, &a->root);
}

/* ---- Tables -------------------------------------------------------------------------------- */

static int find_column(const table_file *t, const char *name, const char *other) {
    for (int c = 0; c < t->columns; c++)
        if (!strcasecmp(t->cell[c], name) || !strcasecmp(t->cell[c], other)) return c;
    return -1;
}

/* Is a column one of files? By its first cell that is not empty. */
static int names_files(const table_file *t, int column) {
    for (int64_t r = 1; r < t->rows; r++) {
        const char *cell = t->cell[r * t->columns + column];
        if (*cell) return format_of(cell) >= 0;
    }
    return 0;
}

static int is_asked(const char *list, const char *name) {
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == strlen(name) && !strncasecmp(at, name, strlen(name))) return 1;
    return !list;
}

static braid_status add_rows(import *a, const table_file *t, row *r) {
    const int label = find_column(t, "label", "class"), split = find_column(t, "split", "subset");
    int stream[TABLE_FILE_MAX_COLUMNS], streams = 0;
    if (label < 0)
        return fail(BRAID_ERROR_DATA,
                    "%s: expected a column \"label\" in the first line, beside a column of files for "
                    "each stream",
                    r->source);
    for (int c = 0; c < t->columns; c++) {
        stream[c] = -1;
        if (c == label || c == split || !names_files(t, c)) continue;
        if (!is_asked(a->options->streams, t->cell[c])) {
            import_leave_out(a, t->cell[c], strlen(t->cell[c]), 0);
            continue;
        }
        TRY(import_stream(a, t->cell[c], &stream[c]));
        streams++;
    }
    if (!streams && a->unasked_count) return BRAID_OK; /* check_streams tells what is there */
    if (!streams) return fail(BRAID_ERROR_DATA, "%s: expected a column of files for each stream, got none", r->source);
    for (int64_t k = 1; k < t->rows; k++) {
        const char *const *cell = t->cell + k * t->columns;
        r->number = k + 1;
        r->label = cell[label];
        r->split = split < 0 ? NULL : cell[split];
        for (int c = 0; c < t->columns; c++)
            if (stream[c] >= 0) TRY(add_cell(a, r, stream[c], cell[c]));
    }
    return BRAID_OK;
}

braid_status import_table(import *a, const char *path) {
    char *text = NULL, *folder = NULL;
    size_t bytes;
    table_file t = {0};
    braid_status status = folder_of(a, path, &folder);
    if (!status) status = files_read(path, TABLE_FILE_MAX_BYTES, BRAID_ERROR_DATA, &text, &bytes);
    if (!status) {
        status = table_file_read(text, bytes, &t);
        if (status) status = fail(status, "%s: %s", path, fail_message());
    }
    row r = {.source = path, .folder = folder};
    if (!status) status = add_rows(a, &t, &r);
    table_file_free(&t);
    memory_free(text);
    memory_free(folder);
    return status;
}

/* ---- Lists --------------------------------------------------------------------------------- */

typedef struct list_file {
    char *text, *at, *folder;
    int stream; /* -1: of labels, -2: of splits */
} list_file;

static braid_status open_list(import *a, const char *name, const char *path, list_file *l) {
    size_t bytes;
    l->stream = !strcasecmp(name, "label") || !strcasecmp(name, "class") ? -1 : -2;
    if (l->stream == -2 && strcasecmp(name, "split") != 0) TRY(import_stream(a, name, &l->stream));
    TRY(folder_of(a, path, &l->folder));
    TRY(files_read(path, TABLE_FILE_MAX_BYTES, BRAID_ERROR_DATA, &l->text, &bytes));
    if (strlen(l->text) != bytes) return fail(BRAID_ERROR_DATA, "%s: expected text, got a zero byte", path);
    l->at = l->text;
    return BRAID_OK;
}

/* NULL at the end. */
static char *next_line(list_file *l) {
    char *line = l->at;
    if (!*line) return NULL;
    const size_t length = strcspn(line, "\n");
    l->at = line + length + (line[length] == '\n');
    line[length] = 0;
    if (length && line[length - 1] == '\r') line[length - 1] = 0;
    return line;
}

static braid_status add_lines(import *a, list_file *lists, const char *const *paths, int count) {
    row r = {.number = 0};
    for (;;) {
        char *cell[BRAID_MAX_STREAMS + 2];
        int ended = 0;
        r.source = paths[0]; /* of the key of a sample */
        r.number++;
        r.label = r.split = NULL;
        for (int j = 0; j < count; j++) {
            cell[j] = next_line(&lists[j]);
            ended += !cell[j];
            if (lists[j].stream == -1) r.label = cell[j];
            if (lists[j].stream == -2) r.split = cell[j];
        }
        if (ended == count) return BRAID_OK;
        for (int j = 0; j < count; j++)
            if (!cell[j])
                return fail(BRAID_ERROR_DATA, "%s: expected as many lines as the other lists have, got %lld", paths[j],
                            (long long)r.number - 1);
        for (int j = 0; j < count; j++) {
            r.folder = lists[j].folder;
            if (lists[j].stream >= 0) TRY(add_cell(a, &r, lists[j].stream, cell[j]));
        }
    }
}

braid_status import_lists(import *a, const char *const *names, const char *const *paths, int count) {
    list_file lists[BRAID_MAX_STREAMS + 2] = {{0}};
    int has_labels = 0, has_streams = 0;
    braid_status status = BRAID_OK;
    for (int j = 0; j < count && !status; j++) {
        status = open_list(a, names[j], paths[j], &lists[j]);
        has_labels |= lists[j].stream == -1;
        has_streams |= lists[j].stream >= 0;
    }
    if (!status && (!has_labels || !has_streams))
        status = fail(BRAID_ERROR_DATA,
                      "%s: expected a list of labels (label=FILE) and one for each stream (rgb=FILE), "
                      "got no %s",
                      paths[0], has_labels ? "stream" : "labels");
    if (!status) status = add_lines(a, lists, paths, count);
    for (int j = 0; j < count; j++) {
        memory_free(lists[j].text);
        memory_free(lists[j].folder);
    }
    return status;
}
