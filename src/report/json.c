/*
 * Tables as a JSON list of objects, keys in the order of the columns. A cell without a value is
 * null, so that every row has every key.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "core/reals.h"
#include "report/table.h"

/* Keys that are not UTF-8 keep their ASCII, as cells do. */
static json_t *row_object(const braid_table *table, int row) {
    json_t *object = json_object();
    for (int c = 0; object && c < table->count; c++) {
        json_t *key = json_text(table->columns[c].key);
        json_t *cell = json_incref((json_t *)table_cell(table, row, c));
        if (!key || json_object_set(object, json_string_value(key), cell) != 0) {
            json_decref(object);
            object = NULL;
        }
        json_decref(cell);
        json_decref(key);
    }
    return object;
}

json_t *table_objects(const braid_table *table, int first_row) {
    json_t *list = json_array();
    for (int r = first_row; list && r < braid_table_rows(table); r++) {
        if (json_array_append_new(list, row_object(table, r)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    if (!list) lab_fail(BRAID_ERROR_MEMORY, "no memory for the JSON of a table");
    return list;
}

braid_status json_print(const json_t *value, FILE *out) {
    const locale_t before = real_enter_c(); /* jansson calls snprintf */
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    real_leave_c(before);
    if (!text) return lab_fail(BRAID_ERROR_MEMORY, "no memory for the JSON text");
    fputs(text, out);
    fputc('\n', out);
    free(text);
    return BRAID_OK;
}

braid_status table_print_json(const braid_table *table, const braid_print_options *options, FILE *out) {
    json_t *list = table_objects(table, options->first_row);
    if (!list) return BRAID_ERROR_MEMORY;
    braid_status status = json_print(list, out);
    json_decref(list);
    return status;
}
