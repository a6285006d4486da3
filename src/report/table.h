/*
 * A table in memory: columns, and the cells of all rows as jansson values (string, integer, real or
 * null). Four printers read it, one per format.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_REPORT_TABLE_H
#define BRAID_REPORT_TABLE_H

#include <jansson.h>

#include "report/lab.h"

struct braid_table {
    const braid_column *columns;
    int count;
    json_t *cells; /* one array, row after row */
};

const json_t *table_cell(const braid_table *table, int row, int column);

/* What table and markdown show of a cell. The text is good until the next call with the same buffer. */
#define TABLE_CELL_TEXT 48
const char *table_show(const braid_table *table, int row, int column, char buffer[TABLE_CELL_TEXT]);

/* One printer per format. The stream gathers; its errors are looked at when it is closed. */
braid_status table_print_aligned(const braid_table *table, const braid_print_options *options, FILE *out);
braid_status table_print_csv(const braid_table *table, const braid_print_options *options, FILE *out);
braid_status table_print_json(const braid_table *table, const braid_print_options *options, FILE *out);
braid_status table_print_md(const braid_table *table, const braid_print_options *options, FILE *out);
braid_status table_print(const braid_table *table, const braid_print_options *options, FILE *out);

/* The rows from first_row on as a list of objects. Returns a reference, or NULL with a message. */
json_t *table_objects(const braid_table *table, int first_row);

/* Writes one value as indented text and a line end. */
braid_status json_print(const json_t *value, FILE *out);

/* Text as a JSON string; bytes that are not UTF-8 become '?'. NULL where memory ran out. */
json_t *json_text(const char *text);

/* Columns that UTF-8 text takes on a terminal, and how many of its bytes fit into `columns`. */
int text_width(const char *text);
size_t text_fit(const char *text, int columns);

/* Prints the first bytes of a text; what would be a command to a terminal is told as in "\\x1b" and takes 4 columns. */
void text_print(const char *text, size_t bytes, FILE *out);

#endif
