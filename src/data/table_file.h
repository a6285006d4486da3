/*
 * Tables that people make: CSV as RFC 4180 has it, with commas or semicolons, and TSV. The first row names the columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_TABLE_FILE_H
#define BRAID_DATA_TABLE_FILE_H

#include "core/status.h"

#define TABLE_FILE_MAX_BYTES ((size_t)1 << 30)
#define TABLE_FILE_MAX_COLUMNS 256

typedef struct table_file {
    char *text;        /* owned: all cells point into it */
    const char **cell; /* [rows][columns], the names of the columns first */
    int columns;
    int64_t rows; /* with that of the names */
    size_t room;
} table_file;

/* Reads a table of which every row has as many cells; a message tells the line. Returns memory for table_file_free. */
braid_status table_file_read(const char *text, size_t bytes, table_file *out);
void table_file_free(table_file *t);

#endif
