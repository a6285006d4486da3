/*
 * Tables: rows of cells that are printed as aligned text, csv, json or markdown. The cells are
 * jansson values, which brings growth, strings and numbers of both kinds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/reals.h"

braid_status braid_table_create(const braid_column *columns, int count, braid_table **table) {
    if (!table) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_table_create: expected a place for the table, got NULL");
    *table = NULL;
    if (!columns || count < 1)
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_table_create: expected at least one column, got %d", count);
    braid_table *t = NULL;
    LAB_TRY(lab_new(sizeof *t, (void **)&t));
    t->columns = columns;
    t->count = count;
    t->cells = json_array();
    if (!t->cells) {
        braid_table_destroy(t);
        return lab_fail(BRAID_ERROR_MEMORY, "no memory for a table");
    }
    *table = t;
    return BRAID_OK;
}

void braid_table_destroy(braid_table *table) {
    if (!table) return;
    json_decref(table->cells);
    free(table);
}

json_t *json_text(const char *text) {
    json_t *value = json_string(text);
    if (value) return value;
    char *ascii = strdup(text);
    if (!ascii) return NULL;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    value = json_string(ascii);
    free(ascii);
    return value;
}

static braid_status add_cell(braid_table *table, json_t *value) {
    if (!value || json_array_append_new(table->cells, value) != 0)
        return lab_fail(BRAID_ERROR_MEMORY, "no memory for a cell of a table");
    return BRAID_OK;
}

braid_status braid_table_add_text(braid_table *table, const char *text) {
    if (!table) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_table_add_text: expected a table, got NULL");
    return add_cell(table, text ? json_text(text) : json_null());
}

braid_status braid_table_add_number(braid_table *table, double number) {
    if (!table) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_table_add_number: expected a table, got NULL");
    int column = (int)(json_array_size(table->cells) % (size_t)table->count);
    braid_cell cell = table->columns[column].cell;
    if (!isfinite(number)) return add_cell(table, json_null());
    if (cell == BRAID_CELL_COUNT || cell == BRAID_CELL_BYTES) return add_cell(table, json_integer((json_int_t)number));
    return add_cell(table, json_real(number));
}

int braid_table_rows(const braid_table *table) {
    return !table ? 0 : (int)(json_array_size(table->cells) / (size_t)table->count);
}

const json_t *table_cell(const braid_table *table, int row, int column) {
    return json_array_get(table->cells, (size_t)row * (size_t)table->count + (size_t)column);
}

static void show_bytes(double bytes, char buffer[TABLE_CELL_TEXT]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    real_format(buffer, TABLE_CELL_TEXT, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* Four significant digits without an exponent where people read them easily. */
static void show_number(double number, char buffer[TABLE_CELL_TEXT]) {
    double size = fabs(number);
    if (size >= 1000 && size < 1e12)
        real_format(buffer, TABLE_CELL_TEXT, "%.0f", number);
    else if (size >= 1e-4 && size < 1000)
        real_format(buffer, TABLE_CELL_TEXT, "%#.4g", number);
    else
        real_format(buffer, TABLE_CELL_TEXT, "%.3g", number);
}

const char *table_show(const braid_table *table, int row, int column, char buffer[TABLE_CELL_TEXT]) {
    const json_t *cell = table_cell(table, row, column);
    if (json_is_string(cell)) return json_string_value(cell);
    if (!json_is_number(cell)) return "-";
    double number = json_number_value(cell);
    switch (table->columns[column].cell) {
        case BRAID_CELL_COUNT: real_format(buffer, TABLE_CELL_TEXT, "%.0f", number); break;
        case BRAID_CELL_BYTES: show_bytes(number, buffer); break;
        case BRAID_CELL_PERCENT: real_format(buffer, TABLE_CELL_TEXT, "%.0f%%", 100 * number); break;
        case BRAID_CELL_RATIO: real_format(buffer, TABLE_CELL_TEXT, "%.2fx", number); break;
        default: show_number(number, buffer); break;
    }
    return buffer;
}

braid_status table_print(const braid_table *table, const braid_print_options *options, FILE *out) {
    switch (options->format) {
        case BRAID_FORMAT_TABLE: return table_print_aligned(table, options, out);
        case BRAID_FORMAT_CSV: return table_print_csv(table, options, out);
        case BRAID_FORMAT_JSON: return table_print_json(table, options, out);
        case BRAID_FORMAT_MD: return table_print_md(table, options, out);
        default:
            return lab_fail(BRAID_ERROR_ARGUMENT, "format: expected 0 to %d, got %d", BRAID_FORMAT_COUNT - 1,
                            (int)options->format);
    }
}

braid_status braid_table_print(const braid_table *table, const braid_print_options *options, char **text) {
    const braid_print_options plain = {.format = BRAID_FORMAT_TABLE};
    lab_text gathered;
    if (text) *text = NULL;
    if (!table || !text)
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_table_print: expected a table and a place for text, got NULL");
    LAB_TRY(lab_text_begin(&gathered));
    return lab_text_end(&gathered, table_print(table, options ? options : &plain, gathered.stream), text);
}
