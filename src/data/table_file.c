/*
 * Tables, cut in place: a quoted cell only becomes shorter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/table_file.h"

#include <string.h>

#include "core/memory.h"

typedef struct cursor {
    char *at, *end;
    int64_t line;
    char separator;
} cursor;

void table_file_free(table_file *t) {
    memory_free(t->text);
    memory_free(t->cell);
    *t = (table_file){0};
}

/* Tabs, where the first line has one; else semicolons, where it has no comma. */
static char find_separator(const char *text, const char *end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    const size_t bytes = (size_t)((newline ? newline : end) - text);
    if (memchr(text, '\t', bytes)) return '\t';
    return memchr(text, ';', bytes) && !memchr(text, ',', bytes) ? ';' : ',';
}

/* Within quotes everything counts but two of them, which are one. The last cell of a line may be followed by CR. */
static braid_status read_quoted(cursor *c, char **out) {
    const int64_t begun = c->line;
    char *to = ++c->at;
    *out = to;
    for (; c->at < c->end; c->at++) {
        c->line += *c->at == '\n';
        if (*c->at == '"') {
            if (c->at + 1 == c->end || c->at[1] != '"') break;
            c->at++;
        }
        *to++ = *c->at;
    }
    if (c->at == c->end)
        return fail(BRAID_ERROR_DATA, "line %lld: expected a quote that ends the cell", (long long)begun);
    c->at++;
    *to = 0;
    if (c->at < c->end && *c->at == '\r') c->at++;
    if (c->at < c->end && *c->at != c->separator && *c->at != '\n')
        return fail(BRAID_ERROR_DATA, "line %lld: expected the end of a cell after its quotes", (long long)c->line);
    return BRAID_OK;
}

/* Reads a cell and what ends it: 0, or the character. */
static braid_status read_cell(cursor *c, char **out, char *ended_by) {
    char *stop;
    if (c->at < c->end && *c->at == '"') {
        TRY(read_quoted(c, out));
        stop = NULL;
    } else {
        *out = c->at;
        while (c->at < c->end && *c->at != c->separator && *c->at != '\n') c->at++;
        stop = c->at;
    }
    *ended_by = c->at < c->end ? *c->at : 0;
    if (c->at < c->end) c->at++;
    if (stop && stop > *out && stop[-1] == '\r' && *ended_by != c->separator) stop--;
    if (stop) *stop = 0;
    return BRAID_OK;
}

static braid_status read_row(cursor *c, table_file *t) {
    int columns = 0;
    char ended_by = c->separator;
    for (; ended_by == c->separator; columns++) {
        char *cell;
        if (columns == (t->rows ? t->columns : TABLE_FILE_MAX_COLUMNS)) break;
        TRY(read_cell(c, &cell, &ended_by));
        const size_t used = (size_t)t->rows * (size_t)t->columns + (size_t)columns;
        TRY(memory_grow((void **)&t->cell, used, &t->room, sizeof *t->cell, "the cells of a table"));
        t->cell[used] = cell;
    }
    if (ended_by == c->separator || (t->rows && columns != t->columns))
        return fail(BRAID_ERROR_DATA, "line %lld: expected %d cells, got %s", (long long)c->line,
                    t->rows ? t->columns : TABLE_FILE_MAX_COLUMNS, ended_by == c->separator ? "more" : "fewer");
    t->columns = columns;
    t->rows++;
    return BRAID_OK;
}

/* Empty lines count for nothing. */
static int skip_empty(cursor *c) {
    while (c->at < c->end && (*c->at == '\n' || (*c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n'))) {
        c->line += *c->at == '\n';
        c->at++;
    }
    return c->at < c->end;
}

static braid_status read_rows(table_file *t, size_t bytes) {
    cursor c = {.at = t->text, .end = t->text + bytes, .line = 1};
    if (bytes >= 3 && !memcmp(c.at, "\xef\xbb\xbf", 3)) c.at += 3;
    if (memchr(c.at, 0, (size_t)(c.end - c.at))) return fail(BRAID_ERROR_DATA, "expected text, got a zero byte");
    c.separator = find_separator(c.at, c.end);
    for (; skip_empty(&c); c.line++) TRY(read_row(&c, t));
    return t->rows > 1 ? BRAID_OK : fail(BRAID_ERROR_DATA, "expected a row of names and rows of samples, got none");
}

braid_status table_file_read(const char *text, size_t bytes, table_file *out) {
    void *copy;
    *out = (table_file){0};
    TRY(memory_alloc(bytes + 1, 1, "a table", &copy));
    if (bytes) memcpy(copy, text, bytes);
    out->text = copy;
    out->text[bytes] = 0;
    braid_status status = read_rows(out, bytes);
    if (status) table_file_free(out);
    return status;
}
