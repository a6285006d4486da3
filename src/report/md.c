/*
 * Tables as GitHub markdown: every column that has a title, numbers to the right, | escaped.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "report/table.h"

static void print_escaped(const char *text, FILE *out) {
    while (*text) {
        size_t plain = strcspn(text, "|\n");
        text_print(text, plain, out);
        text += plain;
        if (*text) fputs(*text++ == '|' ? "\\|" : " ", out);
    }
}

static void print_heading(const braid_table *table, FILE *out) {
    for (int c = 0; c < table->count; c++) {
        if (!table->columns[c].title) continue;
        fputs("| ", out);
        print_escaped(table->columns[c].title, out);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (int c = 0; c < table->count; c++)
        if (table->columns[c].title) fputs(table->columns[c].cell == BRAID_CELL_TEXT ? "|---" : "|---:", out);
    fputs("|\n", out);
}

braid_status table_print_md(const braid_table *table, const braid_print_options *options, FILE *out) {
    char buffer[TABLE_CELL_TEXT];
    if (!options->no_heading) print_heading(table, out);
    for (int r = options->first_row; r < braid_table_rows(table); r++) {
        for (int c = 0; c < table->count; c++) {
            if (!table->columns[c].title) continue;
            fputs("| ", out);
            print_escaped(table_show(table, r, c, buffer), out);
            fputc(' ', out);
        }
        fputs("|\n", out);
    }
    return BRAID_OK;
}
