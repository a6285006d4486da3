/*
 * Tables as RFC 4180 csv: CRLF is left to those who want it, quoting is not: a field with a comma,
 * a quote or a line end is quoted and its quotes are doubled. A cell without a value is empty.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/reals.h"
#include "report/table.h"

static void print_field(const char *text, FILE *out) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"') fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void print_cell(const json_t *cell, FILE *out) {
    char real[REAL_TEXT_BYTES];
    if (json_is_string(cell))
        print_field(json_string_value(cell), out);
    else if (json_is_integer(cell))
        fprintf(out, "%lld", (long long)json_integer_value(cell));
    else if (json_is_real(cell) && real_format(real, sizeof real, "%.9g", json_real_value(cell)) > 0)
        fputs(real, out);
}

braid_status table_print_csv(const braid_table *table, const braid_print_options *options, FILE *out) {
    for (int c = 0; !options->no_heading && c < table->count; c++) {
        print_field(table->columns[c].key, out);
        fputc(c + 1 < table->count ? ',' : '\n', out);
    }
    for (int r = options->first_row; r < braid_table_rows(table); r++) {
        for (int c = 0; c < table->count; c++) {
            print_cell(table_cell(table, r, c), out);
            fputc(c + 1 < table->count ? ',' : '\n', out);
        }
    }
    return BRAID_OK;
}
