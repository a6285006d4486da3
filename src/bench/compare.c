/*
 * Two sides compared, row by row and group by group. Runs of one program differ by more than their intervals say, so
 * with several runs on each side the runs are what is counted: Welch's interval over their medians. One run a side
 * shows little: a claim then needs several times the difference that two runs of one thing usually have.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/run_rows.h"
#include "core/ratio.h"

#define USUAL_FLOOR 0.05 /* by which two runs of one thing differ, where nothing else is said */
#define CLAIM_FLOORS 5   /* so many of them is more than two single runs of one thing ever showed */

typedef struct compared_row {
    const run_row *row; /* of the first run of the first side */
    double a_ms, b_ms;
    interval times; /* B's over A's */
    braid_verdict verdict;
} compared_row;

typedef struct compared_group {
    char name[64];
    int rows;
    int verdicts[BRAID_VERDICT_COUNT];
    interval times;
    braid_verdict verdict;
} compared_group;

struct braid_compare {
    run_side a, b;
    double floor;
    compared_row *rows;
    int count, left_out;
    compared_group *groups; /* the last one holds all */
    int group_count;
};

/* ---- Ratios ------------------------------------------------------------------------------- */

static int is_single(const braid_compare *c) { return c->a.count < 2 || c->b.count < 2; }

/* A claim of two single runs: SAME where they are no further apart than two runs of one thing. */
static braid_verdict judge_times(const braid_compare *c, const interval *times) {
    if (is_single(c) && times->low <= 1 && times->high >= 1) {
        const double most = 1 + fmax(RATIO_SAME, c->floor);
        return times->median <= most && times->median >= 1 / most ? BRAID_VERDICT_SAME : BRAID_VERDICT_AMBIGUOUS;
    }
    return judge_speed(1 / times->median, 1 / times->high, 1 / times->low);
}

/* Wider by what two single runs may differ. */
static interval single_interval(const braid_compare *c, double log_ratio, double reach) {
    const double wide = reach + CLAIM_FLOORS * log1p(c->floor);
    return (interval){exp(log_ratio), exp(log_ratio - wide), exp(log_ratio + wide)};
}

/* The medians of a row in all runs of a side; 0: a run lacks it. */
static int medians_of(const run_side *side, const char *key, double *medians, double *reach) {
    for (int i = 0; i < side->count; i++) {
        const run_row *row = run_rows_find(&side->runs[i], key);
        if (!row) return 0;
        medians[i] = row->median;
        *reach = log(row->high / row->low) / 2;
    }
    return 1;
}

static double middle(const double *values, int count) { return interval_of(values, count).median; }

/* Compares one row; 0: a run of either side lacks it. */
static int compare_row(const braid_compare *c, const run_row *row, compared_row *out) {
    double a[RUN_ROWS_MOST_RUNS], b[RUN_ROWS_MOST_RUNS], a_reach = 0, b_reach = 0;
    if (!medians_of(&c->a, row->key, a, &a_reach) || !medians_of(&c->b, row->key, b, &b_reach)) return 0;
    *out = (compared_row){.row = row, .a_ms = middle(a, c->a.count), .b_ms = middle(b, c->b.count)};
    if (is_single(c)) {
        out->times = single_interval(c, log(out->b_ms / out->a_ms), a_reach + b_reach);
    } else {
        const ratio over = ratio_of_runs(b, c->b.count, a, c->a.count);
        out->times = ratio_interval(&over, CERTAIN_TO_CLAIM, 0);
    }
    out->verdict = judge_times(c, &out->times);
    return 1;
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* Of a row, "conv2d_fwd"; all rows are in the group "all". */
static int is_in(const compared_group *g, const run_row *row) {
    const size_t length = strcspn(row->problem, ":");
    return !strcmp(g->name, "all") || (strlen(g->name) == length && !strncmp(g->name, row->problem, length));
}

/* The geometric mean of the group's times in each run: what changes from run to run changes it as a whole. */
static void means_of(const braid_compare *c, const run_side *side, const compared_group *g, double *means) {
    for (int i = 0; i < side->count; i++) {
        double sum = 0;
        for (int k = 0; k < c->count; k++)
            if (is_in(g, c->rows[k].row)) sum += log(run_rows_find(&side->runs[i], c->rows[k].row->key)->median);
        means[i] = exp(sum / g->rows);
    }
}

static void judge_group(const braid_compare *c, compared_group *g) {
    double a[RUN_ROWS_MOST_RUNS], b[RUN_ROWS_MOST_RUNS];
    for (int k = 0; k < c->count; k++) {
        if (!is_in(g, c->rows[k].row)) continue;
        g->rows++;
        g->verdicts[c->rows[k].verdict]++;
    }
    means_of(c, &c->a, g, a);
    means_of(c, &c->b, g, b);
    if (is_single(c)) {
        g->times = single_interval(c, log(middle(b, c->b.count) / middle(a, c->a.count)), 0);
    } else {
        const ratio over = ratio_of_runs(b, c->b.count, a, c->a.count);
        g->times = ratio_interval(&over, CERTAIN_TO_CLAIM, 0);
    }
    g->verdict = judge_times(c, &g->times);
}

static int group_exists(const braid_compare *c, const run_row *row) {
    for (int g = 0; g < c->group_count; g++)
        if (is_in(&c->groups[g], row)) return 1;
    return 0;
}

static braid_status add_group(braid_compare *c, const char *name, size_t length) {
    LAB_TRY(lab_resize((void **)&c->groups, (size_t)c->group_count + 1, sizeof *c->groups));
    compared_group *g = &c->groups[c->group_count++];
    *g = (compared_group){.rows = 0};
    if (length >= sizeof g->name) length = sizeof g->name - 1;
    memcpy(g->name, name, length);
    return BRAID_OK;
}

static braid_status make_groups(braid_compare *c) {
    for (int k = 0; k < c->count; k++) {
        const run_row *row = c->rows[k].row;
        if (!group_exists(c, row)) LAB_TRY(add_group(c, row->problem, strcspn(row->problem, ":")));
    }
    LAB_TRY(add_group(c, "all", strlen("all")));
    for (int g = 0; g < c->group_count; g++) judge_group(c, &c->groups[g]);
    return BRAID_OK;
}

/* ---- The whole ---------------------------------------------------------------------------- */

static braid_status compare(braid_compare *c, const char *a, const char *b, int chosen) {
    LAB_TRY(run_side_read(a, chosen, &c->a));
    LAB_TRY(run_side_read(b, chosen, &c->b));
    if (c->floor <= 0) c->floor = fmax(c->a.floor, c->b.floor);
    if (c->floor <= 0) c->floor = USUAL_FLOOR;
    const run_rows *first = &c->a.runs[0];
    LAB_TRY(lab_resize((void **)&c->rows, (size_t)first->count, sizeof *c->rows));
    for (int i = 0; i < first->count; i++) c->count += compare_row(c, &first->rows[i], &c->rows[c->count]);
    c->left_out = first->count - c->count;
    if (c->count == 0)
        return lab_fail(BRAID_ERROR_DATA, "%s and %s: expected rows of the same problems and kernels, got none", a, b);
    return make_groups(c);
}

braid_status braid_compare_create(const char *a, const char *b, const braid_compare_options *options,
                                  braid_compare **out) {
    const braid_compare_options defaults = {0}, *o = options ? options : &defaults;
    braid_compare *c = NULL;
    if (!a || !b || !out)
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_compare_create: expected two paths and a place, got NULL");
    *out = NULL;
    if (!(o->floor >= 0 && o->floor < 1))
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_compare_create: floor: expected 0 to 1, got %g", o->floor);
    LAB_TRY(lab_new(sizeof *c, (void **)&c));
    c->floor = o->floor;
    braid_status status = compare(c, a, b, o->chosen);
    if (status) {
        braid_compare_destroy(c);
        return status;
    }
    *out = c;
    return BRAID_OK;
}

void braid_compare_destroy(braid_compare *c) {
    if (!c) return;
    run_side_free(&c->a);
    run_side_free(&c->b);
    free(c->rows);
    free(c->groups);
    free(c);
}

void braid_compare_count(const braid_compare *c, braid_compare_counts *counts) {
    if (!c || !counts) return;
    const int *v = c->groups[c->group_count - 1].verdicts;
    *counts = (braid_compare_counts){.a_runs = c->a.count,
                                     .b_runs = c->b.count,
                                     .rows = c->count,
                                     .left_out = c->left_out,
                                     .fast = v[BRAID_VERDICT_FAST],
                                     .slow = v[BRAID_VERDICT_SLOW],
                                     .same = v[BRAID_VERDICT_SAME],
                                     .ambiguous = v[BRAID_VERDICT_AMBIGUOUS]};
}

/* ---- Tables ------------------------------------------------------------------------------- */

static const braid_column row_columns[] = {
    {.key = "problem", .title = "problem", .group = 1},
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "a_ms", .title = "A ms", .cell = BRAID_CELL_NUMBER},
    {.key = "b_ms", .title = "B ms", .cell = BRAID_CELL_NUMBER},
    {.key = "ratio", .title = "A / B", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_low", .title = "from", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_high", .title = "to", .cell = BRAID_CELL_RATIO},
    {.key = "verdict", .title = "B is"},
};

static braid_status add_times(braid_table *table, const interval *times) {
    LAB_TRY(braid_table_add_number(table, 1 / times->median));
    LAB_TRY(braid_table_add_number(table, isinf(times->high) ? NAN : 1 / times->high));
    return braid_table_add_number(table, times->low > 0 ? 1 / times->low : NAN);
}

static braid_status add_compared(braid_table *table, const compared_row *row) {
    LAB_TRY(braid_table_add_text(table, row->row->problem));
    LAB_TRY(braid_table_add_text(table, row->row->kernel));
    LAB_TRY(braid_table_add_number(table, row->a_ms));
    LAB_TRY(braid_table_add_number(table, row->b_ms));
    LAB_TRY(add_times(table, &row->times));
    return braid_table_add_text(table, braid_verdict_name(row->verdict));
}

static const braid_column group_columns[] = {
    {.key = "group", .title = "group"},
    {.key = "rows", .title = "rows", .cell = BRAID_CELL_COUNT},
    {.key = "fast", .title = "FAST", .cell = BRAID_CELL_COUNT},
    {.key = "slow", .title = "SLOW", .cell = BRAID_CELL_COUNT},
    {.key = "same", .title = "SAME", .cell = BRAID_CELL_COUNT},
    {.key = "ambiguous", .title = "AMBIGUOUS", .cell = BRAID_CELL_COUNT},
    {.key = "ratio", .title = "mean A / B", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_low", .title = "from", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_high", .title = "to", .cell = BRAID_CELL_RATIO},
    {.key = "verdict", .title = "B is"},
};

static braid_status add_group_row(braid_table *table, const compared_group *g) {
    static const braid_verdict shown[] = {BRAID_VERDICT_FAST, BRAID_VERDICT_SLOW, BRAID_VERDICT_SAME,
                                          BRAID_VERDICT_AMBIGUOUS};
    LAB_TRY(braid_table_add_text(table, g->name));
    LAB_TRY(braid_table_add_number(table, g->rows));
    for (int i = 0; i < 4; i++) LAB_TRY(braid_table_add_number(table, g->verdicts[shown[i]]));
    LAB_TRY(add_times(table, &g->times));
    return braid_table_add_text(table, braid_verdict_name(g->verdict));
}

static braid_status finish(braid_status status, braid_table **table) {
    if (!status) return BRAID_OK;
    braid_table_destroy(*table);
    *table = NULL;
    return status;
}

braid_status braid_compare_rows(const braid_compare *c, braid_table **table) {
    if (!c) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_compare_rows: expected a comparison, got NULL");
    LAB_TRY(braid_table_create(row_columns, (int)(sizeof row_columns / sizeof row_columns[0]), table));
    braid_status status = BRAID_OK;
    for (int i = 0; i < c->count && !status; i++) status = add_compared(*table, &c->rows[i]);
    return finish(status, table);
}

braid_status braid_compare_groups(const braid_compare *c, braid_table **table) {
    if (!c) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_compare_groups: expected a comparison, got NULL");
    LAB_TRY(braid_table_create(group_columns, (int)(sizeof group_columns / sizeof group_columns[0]), table));
    braid_status status = BRAID_OK;
    for (int i = 0; i < c->group_count && !status; i++) status = add_group_row(*table, &c->groups[i]);
    return finish(status, table);
}
