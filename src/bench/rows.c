/*
 * A bench as a table. The keys are a promise to those who read the csv and the json.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "bench/bench.h"

static const braid_column bench_columns[] = {
    {.key = "problem", .title = "problem", .group = 1},
    {.key = "kernel", .title = "kernel", .width = 42, .keep_end = 1},
    {.key = "kind", .title = "kind", .width = 6},
    {.key = "device"},
    {.key = "dtype"},
    {.key = "median_ms", .title = "ms", .cell = BRAID_CELL_NUMBER, .width = 9},
    {.key = "low_ms", .title = "low", .cell = BRAID_CELL_NUMBER, .width = 9, .optional = 3},
    {.key = "high_ms", .title = "high", .cell = BRAID_CELL_NUMBER, .width = 9, .optional = 3},
    {.key = "gflops", .title = "GFLOP/s", .cell = BRAID_CELL_NUMBER, .width = 7, .optional = 1},
    {.key = "gbs", .title = "GB/s", .cell = BRAID_CELL_NUMBER, .width = 7, .optional = 2},
    {.key = "roofline", .title = "roof", .cell = BRAID_CELL_PERCENT, .width = 4},
    {.key = "ratio", .title = "vs base", .cell = BRAID_CELL_RATIO, .width = 7},
    {.key = "ratio_low", .title = "from", .cell = BRAID_CELL_RATIO, .width = 7, .optional = 3},
    {.key = "ratio_high", .title = "to", .cell = BRAID_CELL_RATIO, .width = 7, .optional = 3},
    {.key = "baseline"},
    {.key = "verdict", .title = "verdict", .width = 11},
    {.key = "max_err", .title = "err/tol", .cell = BRAID_CELL_NUMBER, .width = 7, .optional = 4},
    {.key = "layout_copy_bytes", .title = "copies", .cell = BRAID_CELL_BYTES, .width = 7, .optional = 5},
    {.key = "buffers"},
    {.key = "load"},
};
#define BENCH_COLUMNS ((int)(sizeof bench_columns / sizeof bench_columns[0]))

static const char *verdict_text(const braid_bench_row *row, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", braid_verdict_name(row->verdict), row->chosen ? " chosen" : "",
             row->handicapped ? " handicapped" : "");
    return text;
}

static const char *baseline_text(const braid_bench_result *r, char *text, size_t size) {
    int handicapped = r->baseline >= 0 && r->rows[r->baseline].handicapped;
    snprintf(text, size, "%s%s", r->baseline_name, handicapped ? " (handicapped)" : "");
    return *text ? text : NULL;
}

static braid_status add_row(braid_table *table, int warm, const braid_bench_result *r, const braid_bench_row *row) {
    char verdict[32], baseline[160];
    const char *head[] = {r->problem, row->kernel, braid_kind_name(row->kind), r->device,
                          r->tf32 ? "tf32" : braid_dtype_name(r->dtype)};
    const double numbers[] = {1e3 * row->median_s,     1e3 * row->low_s, 1e3 * row->high_s, 1e-9 * row->flops_per_s,
                              1e-9 * row->bytes_per_s, row->roofline,    row->ratio,        row->ratio_low,
                              row->ratio_high};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) LAB_TRY(braid_table_add_text(table, head[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) LAB_TRY(braid_table_add_number(table, numbers[i]));
    LAB_TRY(braid_table_add_text(table, baseline_text(r, baseline, sizeof baseline)));
    LAB_TRY(braid_table_add_text(table, verdict_text(row, verdict, sizeof verdict)));
    LAB_TRY(braid_table_add_number(table, row->max_err));
    LAB_TRY(braid_table_add_number(table, (double)row->layout_copy_bytes));
    LAB_TRY(braid_table_add_text(table, warm ? "warm" : "cold"));
    return braid_table_add_text(table, *r->load ? r->load : NULL);
}

/* Without `all`: what has a time, was chosen, or was found wrong. */
static int is_shown(const braid_bench_row *row) {
    return !isnan(row->median_s) || row->chosen || row->verdict == BRAID_VERDICT_FAIL;
}

braid_status braid_bench_table(const braid_bench *bench, int first, int all, braid_table **table) {
    if (!bench) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_bench_table: expected a bench, got NULL");
    LAB_TRY(braid_table_create(bench_columns, BENCH_COLUMNS, table));
    braid_status status = BRAID_OK;
    for (int i = first < 0 ? 0 : first; i < bench->count; i++) {
        const braid_bench_result *r = &bench->results[i];
        for (int k = 0; k < r->count && !status; k++)
            if (all || is_shown(&r->rows[k])) status = add_row(*table, bench->options.warm, r, &r->rows[k]);
    }
    if (status) {
        braid_table_destroy(*table);
        *table = NULL;
    }
    return status;
}
