/*
 * Tables for people: aligned columns, a heading, a line of its own for the value that a group of rows
 * shares. On a terminal that is too narrow the optional columns go first, then the widest text
 * column is cut with an ellipsis. Text in the last column is never cut: it runs over.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "report/table.h"

#define GAP 2         /* spaces between columns */
#define LEAST_TEXT 12 /* a text column is not cut below this */

typedef struct layout {
    const braid_table *table;
    const braid_print_options *options;
    int *width; /* of each column; 0: not shown */
    int indent; /* rows stand to the right of their group's line */
} layout;

static int max_int(int a, int b) { return a > b ? a : b; }

static void natural_widths(layout *l) {
    char buffer[TABLE_CELL_TEXT];
    for (int c = 0; c < l->table->count; c++) {
        const braid_column *column = &l->table->columns[c];
        l->width[c] = 0;
        if (column->group) l->indent = 2;
        if (column->group || !column->title) continue;
        l->width[c] = max_int(max_int(column->width, 1), text_width(column->title));
        for (int r = l->options->first_row; r < braid_table_rows(l->table); r++)
            l->width[c] = max_int(l->width[c], text_width(table_show(l->table, r, c, buffer)));
    }
}

static int last_shown(const layout *l) {
    int last = 0;
    for (int c = 0; c < l->table->count; c++)
        if (l->width[c]) last = c;
    return last;
}

/* Text in the last column may run over, but some of it should be seen. */
static int runs_over(const layout *l, int column) {
    return l->table->columns[column].cell == BRAID_CELL_TEXT && column == last_shown(l);
}

static int total_width(const layout *l) {
    int total = l->indent - GAP;
    for (int c = 0; c < l->table->count; c++) {
        int width = l->width[c];
        if (width > LEAST_TEXT && runs_over(l, c)) width = LEAST_TEXT;
        if (width) total += width + GAP;
    }
    return total;
}

/* The shown column to leave out next, or -1. */
static int most_optional(const layout *l) {
    int found = -1;
    for (int c = 0; c < l->table->count; c++) {
        int rank = l->width[c] ? l->table->columns[c].optional : 0;
        if (rank > 0 && (found < 0 || rank >= l->table->columns[found].optional)) found = c;
    }
    return found;
}

static int widest_text(const layout *l) {
    int found = -1;
    for (int c = 0; c < l->table->count; c++) {
        if (l->table->columns[c].cell != BRAID_CELL_TEXT || l->width[c] <= LEAST_TEXT || runs_over(l, c)) continue;
        if (found < 0 || l->width[c] > l->width[found]) found = c;
    }
    return found;
}

static void fit_widths(layout *l) {
    int column;
    if (l->options->width <= 0) return;
    while (total_width(l) > l->options->width && (column = most_optional(l)) >= 0) l->width[column] = 0;
    while (total_width(l) > l->options->width && (column = widest_text(l)) >= 0) l->width[column]--;
}

static const char *verdict_colour(const char *text) {
    if (!strncmp(text, "FAST", 4)) return "\033[32m";
    if (!strncmp(text, "SLOW", 4) || !strncmp(text, "FAIL", 4)) return "\033[31m";
    return NULL;
}

static void print_spaces(int count, FILE *out) { fprintf(out, "%*s", count > 0 ? count : 0, ""); }

/* Prints at most `width` columns of the text, of its end or of its beginning. */
static void print_cut(const char *text, int width, int keep_end, FILE *out) {
    int wanted = text_width(text);
    if (wanted <= width) {
        text_print(text, strlen(text), out);
    } else if (keep_end) {
        const char *rest = text + text_fit(text, wanted - width + 1);
        fputs("\u2026", out);
        text_print(rest, strlen(rest), out);
    } else {
        text_print(text, text_fit(text, width - 1), out);
        fputs("\u2026", out);
    }
}

static void print_cell(const layout *l, int column, const char *text, FILE *out) {
    int width = l->width[column], right = l->table->columns[column].cell != BRAID_CELL_TEXT;
    int pad = width - text_width(text);
    const char *colour = l->options->colour ? verdict_colour(text) : NULL;
    if (right) print_spaces(pad, out);
    if (colour) fputs(colour, out);
    print_cut(text, width, l->table->columns[column].keep_end, out);
    if (colour) fputs("\033[0m", out);
    if (!right && column != last_shown(l)) print_spaces(pad, out); /* no line ends in spaces */
}

static void print_line(const layout *l, int row, FILE *out) {
    char buffer[TABLE_CELL_TEXT];
    int first = 1;
    print_spaces(l->indent, out);
    for (int c = 0; c < l->table->count; c++) {
        if (!l->width[c]) continue;
        if (!first) print_spaces(GAP, out);
        first = 0;
        print_cell(l, c, row < 0 ? l->table->columns[c].title : table_show(l->table, row, c, buffer), out);
    }
    fputc('\n', out);
}

static void print_groups(const layout *l, int row, FILE *out) {
    for (int c = 0; c < l->table->count; c++) {
        if (!l->table->columns[c].group) continue;
        const json_t *cell = table_cell(l->table, row, c);
        if (row > l->options->first_row && json_equal(cell, table_cell(l->table, row - 1, c))) continue;
        const char *text = json_is_string(cell) ? json_string_value(cell) : "-";
        text_print(text, strlen(text), out);
        fputc('\n', out);
    }
}

braid_status table_print_aligned(const braid_table *table, const braid_print_options *options, FILE *out) {
    layout l = {.table = table, .options = options};
    LAB_TRY(lab_resize((void **)&l.width, (size_t)table->count, sizeof *l.width));
    natural_widths(&l);
    fit_widths(&l);
    if (!options->no_heading) print_line(&l, -1, out);
    for (int r = options->first_row; r < braid_table_rows(table); r++) {
        print_groups(&l, r, out);
        print_line(&l, r, out);
    }
    free(l.width);
    return BRAID_OK;
}
