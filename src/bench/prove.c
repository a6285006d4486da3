/*
 * Proofs: rows of kernels raced against themselves, with and without planted time, and how often a verdict was wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"

#define SHARES 3
#define LEAST_SECONDS 50e-6 /* of a launch: a shorter one is mostly the call */
#define LOOK_SECONDS 1e-3   /* of the look at how long a launch takes */
#define FLOOR_SECONDS 1.0

static const double planted[SHARES] = {0, 0.02, 0.05};

typedef struct prove_row {
    char *problem, *kernel;
    braid_proof proofs[SHARES];
} prove_row;

struct braid_prove {
    braid_context *context;
    double seconds;
    prove_row *rows;
    int count;
    uint64_t races; /* so far: the seed of the next one's order */
};

braid_status braid_prove_create(braid_context *context, double seconds, braid_prove **prove) {
    braid_prove *p = NULL;
    if (!prove) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_prove_create: expected a place for the proofs, got NULL");
    *prove = NULL;
    if (!context || !(seconds >= 0 && seconds < 1e6))
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_prove_create: expected a context and seconds from 0 to 1e6");
    LAB_TRY(lab_new(sizeof *p, (void **)&p));
    p->context = context;
    p->seconds = seconds;
    *prove = p;
    return BRAID_OK;
}

static void free_row(prove_row *row) {
    free(row->problem);
    free(row->kernel);
}

void braid_prove_destroy(braid_prove *prove) {
    for (int i = 0; prove && i < prove->count; i++) free_row(&prove->rows[i]);
    if (prove) free(prove->rows);
    free(prove);
}

/* ---- One row ------------------------------------------------------------------------------ */

/* The kernel that the cost model takes, or that wisdom knows: which one it is does not matter here. */
static braid_status plan(braid_op *op) {
    return lab_from_braid(braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}));
}

static braid_status is_long_enough(braid_op *op, int *enough) {
    braid_proof look = {.plant = 0};
    LAB_TRY(lab_from_braid(braid_op_prove(op, &(braid_proof_options){.seconds = LOOK_SECONDS}, &look, 1)));
    *enough = look.seconds >= LEAST_SECONDS;
    return BRAID_OK;
}

static braid_status race_row(const braid_prove *prove, braid_op *op, prove_row *row) {
    char text[BRAID_PROBLEM_TEXT];
    const braid_race *race = braid_op_explain(op);
    const braid_proof_options how = {.seconds = prove->seconds, .floor_seconds = FLOOR_SECONDS, .seed = prove->races};
    for (int i = 0; i < SHARES; i++) row->proofs[i].plant = planted[i];
    LAB_TRY(lab_from_braid(braid_op_prove(op, &how, row->proofs, SHARES)));
    LAB_TRY(lab_from_braid(braid_problem_print(braid_op_problem(op), text, sizeof text)));
    LAB_TRY(lab_copy_text(text, &row->problem));
    return lab_copy_text(race->candidates[race->winner].kernel, &row->kernel);
}

static braid_status add_row(braid_prove *prove, braid_op *op, int *added) {
    prove_row row = {0};
    LAB_TRY(plan(op));
    LAB_TRY(is_long_enough(op, added));
    if (!*added) return BRAID_OK;
    LAB_TRY(lab_resize((void **)&prove->rows, (size_t)prove->count + 1, sizeof row));
    prove->races++;
    braid_status status = race_row(prove, op, &row);
    if (status)
        free_row(&row);
    else
        prove->rows[prove->count++] = row;
    return status;
}

braid_status braid_prove_run(braid_prove *prove, const char *problem, int *added) {
    braid_problem parsed;
    braid_op *op = NULL;
    int is_added = 0;
    if (!prove) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_prove_run: expected proofs, got NULL");
    LAB_TRY(lab_from_braid(braid_problem_parse(problem, &parsed)));
    LAB_TRY(lab_from_braid(braid_op_create(prove->context, &parsed, &op)));
    braid_status status = add_row(prove, op, &is_added);
    braid_op_destroy(op);
    if (added) *added = is_added;
    return status;
}

/* ---- Tables ------------------------------------------------------------------------------- */

static const braid_column row_columns[] = {
    {.key = "problem", .title = "problem", .group = 1},
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "device"},
    {.key = "planted", .title = "planted", .cell = BRAID_CELL_PERCENT},
    {.key = "median_ms", .title = "ms", .cell = BRAID_CELL_NUMBER},
    {.key = "ratio", .title = "vs itself", .cell = BRAID_CELL_NUMBER},
    {.key = "ratio_low", .title = "from", .cell = BRAID_CELL_NUMBER},
    {.key = "ratio_high", .title = "to", .cell = BRAID_CELL_NUMBER},
    {.key = "verdict", .title = "verdict"},
    {.key = "others", .title = "others", .cell = BRAID_CELL_NUMBER},
    {.key = "busy", .title = "busy", .cell = BRAID_CELL_COUNT},
};

/* As the row of a race would have it: beside other work nothing is claimed. */
static braid_verdict verdict_of(const braid_proof *p) {
    const braid_verdict verdict = judge_speed(p->ratio, p->ratio_low, p->ratio_high);
    return p->is_busy && verdict != BRAID_VERDICT_SAME ? BRAID_VERDICT_AMBIGUOUS : verdict;
}

static braid_status add_proof(braid_table *table, const char *device, const prove_row *row, const braid_proof *p) {
    const char *texts[] = {row->problem, row->kernel, device};
    const double numbers[] = {p->plant, 1e3 * p->seconds, p->ratio, p->ratio_low,
                              isfinite(p->ratio_high) ? p->ratio_high : NAN};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) LAB_TRY(braid_table_add_text(table, texts[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) LAB_TRY(braid_table_add_number(table, numbers[i]));
    LAB_TRY(braid_table_add_text(table, braid_verdict_name(verdict_of(p))));
    LAB_TRY(braid_table_add_number(table, p->others < 0 ? NAN : p->others));
    return braid_table_add_number(table, p->is_busy);
}

static braid_status destroy_failed(braid_status status, braid_table **table) {
    if (!status) return BRAID_OK;
    braid_table_destroy(*table);
    *table = NULL;
    return status;
}

braid_status braid_prove_table(const braid_prove *prove, braid_table **table) {
    if (!prove) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_prove_table: expected proofs, got NULL");
    LAB_TRY(braid_table_create(row_columns, (int)(sizeof row_columns / sizeof row_columns[0]), table));
    braid_status status = BRAID_OK;
    for (int i = 0; i < prove->count * SHARES && !status; i++) {
        const prove_row *row = &prove->rows[i / SHARES];
        status = add_proof(*table, braid_context_device(prove->context), row, &row->proofs[i % SHARES]);
    }
    return destroy_failed(status, table);
}

static const braid_column sum_columns[] = {
    {.key = "planted", .title = "planted", .cell = BRAID_CELL_PERCENT},
    {.key = "rows", .title = "rows", .cell = BRAID_CELL_COUNT},
    {.key = "busy", .title = "busy", .cell = BRAID_CELL_COUNT},
    {.key = "fast", .title = "FAST", .cell = BRAID_CELL_COUNT},
    {.key = "slow", .title = "SLOW", .cell = BRAID_CELL_COUNT},
    {.key = "same", .title = "SAME", .cell = BRAID_CELL_COUNT},
    {.key = "ambiguous", .title = "AMBIGUOUS", .cell = BRAID_CELL_COUNT},
    {.key = "false_claims", .title = "false claims", .cell = BRAID_CELL_COUNT},
    {.key = "found", .title = "found", .cell = BRAID_CELL_PERCENT},
};

/* FAST is never true here, SLOW where time was planted. */
static braid_status add_sum(braid_table *table, const braid_prove *prove, int share) {
    int counts[BRAID_VERDICT_COUNT] = {0}, busy = 0;
    for (int i = 0; i < prove->count; i++) {
        const braid_proof *p = &prove->rows[i].proofs[share];
        counts[verdict_of(p)]++;
        busy += p->is_busy;
    }
    const int slow = counts[BRAID_VERDICT_SLOW], fast = counts[BRAID_VERDICT_FAST], is_planted = planted[share] > 0;
    const double numbers[] = {planted[share],
                              prove->count,
                              busy,
                              fast,
                              slow,
                              counts[BRAID_VERDICT_SAME],
                              counts[BRAID_VERDICT_AMBIGUOUS],
                              fast + (is_planted ? 0 : slow),
                              is_planted && prove->count ? (double)slow / prove->count : (double)NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) LAB_TRY(braid_table_add_number(table, numbers[i]));
    return BRAID_OK;
}

braid_status braid_prove_sums(const braid_prove *prove, braid_table **table) {
    if (!prove) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_prove_sums: expected proofs, got NULL");
    LAB_TRY(braid_table_create(sum_columns, (int)(sizeof sum_columns / sizeof sum_columns[0]), table));
    braid_status status = BRAID_OK;
    for (int i = 0; i < SHARES && !status; i++) status = add_sum(*table, prove, i);
    return destroy_failed(status, table);
}
