/*
 * The machine as a table: what the library tells about the device and the libraries it found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "report/lab.h"

static const braid_column machine_columns[] = {
    {.key = "section", .title = "section", .group = 1},
    {.key = "name", .title = "name"},
    {.key = "value", .title = "value"},
    {.key = "hint"},
};
#define MACHINE_COLUMNS ((int)(sizeof machine_columns / sizeof machine_columns[0]))

typedef struct gathering {
    braid_table *table;
    braid_status status;
} gathering;

static void add_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    gathering *g = user;
    const char *cells[MACHINE_COLUMNS] = {section, name, value, hint};
    for (int i = 0; i < MACHINE_COLUMNS && !g->status; i++) g->status = braid_table_add_text(g->table, cells[i]);
}

braid_status braid_machine_table(braid_context *context, braid_table **table) {
    gathering g = {0};
    if (!table) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_machine_table: expected a place for the table, got NULL");
    *table = NULL;
    LAB_TRY(braid_table_create(machine_columns, MACHINE_COLUMNS, &g.table));
    braid_status status = lab_from_braid(braid_context_describe(context, add_row, &g));
    if (!status) status = g.status;
    if (status)
        braid_table_destroy(g.table);
    else
        *table = g.table;
    return status;
}
