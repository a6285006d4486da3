/*
 * Rows of runs, read again: what `braid bench` wrote as csv or json, and folders of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BENCH_RUN_ROWS_H
#define BRAID_BENCH_RUN_ROWS_H

#include "report/lab.h"

#define RUN_ROWS_MOST_RUNS 64

/* One timed row of a run. */
typedef struct run_row {
    char *key;              /* what it has in common with the same row of another run; owned */
    char *problem, *kernel; /* within it */
    int order;              /* in its file: of two with one key the later one counts */
    double median, low, high;
} run_row;

typedef struct run_rows {
    run_row *rows; /* by key, each once */
    int count;
} run_rows;

/* Several runs of one side. */
typedef struct run_side {
    run_rows runs[RUN_ROWS_MOST_RUNS];
    int count;
    double floor; /* between runs, the largest that a run.json tells; 0: none tells */
} run_side;

/* The rows of one file's text; `chosen`: only those of the kernels that were chosen, whichever they are. */
braid_status run_rows_parse(const char *text, size_t bytes, int is_json, int chosen, run_rows *out);

/* A file is one run. A folder with results.csv or run.json is one, too; else each such folder in it and each csv file
 * is one. */
braid_status run_side_read(const char *path, int chosen, run_side *out);
void run_side_free(run_side *side);

/* The row of a key; NULL: there is none. */
const run_row *run_rows_find(const run_rows *rows, const char *key);

#endif
