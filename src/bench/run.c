/*
 * One problem of a bench: plan it, copy what the library saw of the race, and put it beside the
 * ceilings of the machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

braid_status braid_bench_create(braid_context *context, const braid_bench_options *options, braid_bench **bench) {
    if (!bench) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_bench_create: expected a place for the bench, got NULL");
    *bench = NULL;
    if (!context) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_bench_create: context: expected a context, got NULL");
    if (options && !(options->seconds >= 0 && options->seconds < 1e6))
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_bench_create: seconds: expected 0 to 1e6, got %g",
                        options->seconds);
    braid_bench *b = NULL;
    LAB_TRY(lab_new(sizeof *b, (void **)&b));
    b->context = context;
    if (options) b->options = *options;
    *bench = b;
    return BRAID_OK;
}

static void free_rows(braid_bench_row *rows, int count) {
    for (int i = 0; i < count; i++) {
        free((char *)rows[i].kernel);
        free((char *)rows[i].reason);
    }
    free(rows);
}

static void free_result(braid_bench_result *r) {
    free_rows((braid_bench_row *)r->rows, r->count);
    free((char *)r->problem);
    free((char *)r->device);
    free((char *)r->why);
    free((char *)r->load);
}

void braid_bench_destroy(braid_bench *bench) {
    if (!bench) return;
    for (int i = 0; i < bench->count; i++) free_result(&bench->results[i]);
    free(bench->results);
    free(bench);
}

int braid_bench_count(const braid_bench *bench) { return bench ? bench->count : 0; }

const braid_bench_result *braid_bench_result_at(const braid_bench *bench, int index) {
    return bench && index >= 0 && index < bench->count ? &bench->results[index] : NULL;
}

static double or_nan(double value, int known) { return known ? value : NAN; }

static braid_status copy_candidate(const braid_race *race, int index, braid_bench_row *row) {
    const braid_candidate *c = &race->candidates[index];
    int timed = c->median_s > 0;
    *row = (braid_bench_row){.kind = c->kind,
                             .chosen = index == race->winner,
                             .handicapped = c->handicapped,
                             .median_s = or_nan(c->median_s, timed),
                             .low_s = or_nan(c->low_s, timed),
                             .high_s = or_nan(c->high_s, timed),
                             .ratio = or_nan(c->ratio, timed),
                             .ratio_low = or_nan(c->ratio_low, timed),
                             .ratio_high = or_nan(c->ratio_high, timed && isfinite(c->ratio_high)),
                             .flops_per_s = timed ? race->flops / c->median_s : NAN,
                             .bytes_per_s = timed ? race->bytes / c->median_s : NAN,
                             .max_err = or_nan(c->max_err, c->max_err >= 0),
                             .compared = c->compared,
                             .workspace_bytes = (int64_t)c->workspace_bytes,
                             .layout_copy_bytes = c->layout_copy_bytes};
    LAB_TRY(lab_copy_text(c->kernel, (char **)&row->kernel));
    return c->reason ? lab_copy_text(c->reason, (char **)&row->reason) : BRAID_OK;
}

static int by_time(const void *a, const void *b) {
    const braid_bench_row *x = a, *y = b;
    int x_timed = !isnan(x->median_s), y_timed = !isnan(y->median_s);
    if (x_timed != y_timed) return y_timed - x_timed;
    if (x_timed && x->median_s != y->median_s) return x->median_s < y->median_s ? -1 : 1;
    return strcmp(x->kernel, y->kernel);
}

/* The result owns the rows, also those that were copied before a failure. */
static braid_status copy_rows(const braid_race *race, braid_bench_result *r) {
    braid_bench_row *rows = NULL;
    LAB_TRY(lab_resize((void **)&rows, (size_t)race->count, sizeof *rows));
    r->rows = rows;
    for (r->count = 0; r->count < race->count; r->count++) {
        braid_status status = copy_candidate(race, r->count, &rows[r->count]);
        if (status) {
            r->count++;
            return status;
        }
    }
    qsort(rows, (size_t)r->count, sizeof *rows, by_time);
    return BRAID_OK;
}

/* f32 always has fast kernels; elsewhere the reference may be alone, and its speed is no ceiling. That of TF32 is not
 * measured. */
static int has_ceilings(const braid_bench_result *r) {
    int fast = r->dtype == BRAID_DTYPE_F32;
    if (r->tf32) return 0;
    for (int i = 0; i < r->count; i++) fast |= r->rows[i].kind != BRAID_KIND_REF && !isnan(r->rows[i].median_s);
    return fast;
}

/* The ceilings of a dtype are measured once; where they cannot be, the roofline is not known. */
static const braid_ceilings *ceilings_of(braid_bench *bench, braid_dtype dtype) {
    if (!bench->have_ceilings[dtype]) {
        braid_status status = braid_context_ceilings(bench->context, dtype, &bench->ceilings[dtype]);
        bench->have_ceilings[dtype] = status == BRAID_OK ? 1 : -1;
    }
    return bench->have_ceilings[dtype] > 0 ? &bench->ceilings[dtype] : NULL;
}

static void set_roofline(braid_bench *bench, braid_bench_result *r, braid_bench_row *rows) {
    const braid_ceilings *c = has_ceilings(r) ? ceilings_of(bench, r->dtype) : NULL;
    double compute_s = c && c->gemm_flops_per_s > 0 ? r->flops / c->gemm_flops_per_s : NAN;
    double memory_s = c && c->copy_bytes_per_s > 0 ? r->bytes / c->copy_bytes_per_s : NAN;
    r->memory_bound = memory_s >= compute_s;
    r->roofline_s = isnan(compute_s) || isnan(memory_s) ? NAN : fmax(compute_s, memory_s);
    for (int i = 0; i < r->count; i++) rows[i].roofline = r->roofline_s / rows[i].median_s;
}

static braid_status fill_result(braid_bench *bench, braid_op *op, braid_bench_result *r) {
    char text[BRAID_PROBLEM_TEXT];
    const braid_race *race = braid_op_explain(op);
    const braid_problem *problem = braid_op_problem(op);
    LAB_TRY(lab_from_braid(braid_problem_print(problem, text, sizeof text)));
    LAB_TRY(lab_copy_text(text, (char **)&r->problem));
    LAB_TRY(lab_copy_text(braid_context_device(bench->context), (char **)&r->device));
    LAB_TRY(lab_copy_text(race->why ? race->why : "", (char **)&r->why));
    LAB_TRY(lab_copy_text(race->load ? race->load : "", (char **)&r->load));
    r->is_busy = race->is_busy;
    r->dtype = problem->dtype;
    r->tf32 = problem->tf32;
    r->from_wisdom = race->from_wisdom;
    r->flops = race->flops;
    r->bytes = race->bytes;
    r->gate_ratio = NAN;
    r->chosen = r->baseline = -1;
    LAB_TRY(copy_rows(race, r));
    braid_bench_row *rows = (braid_bench_row *)r->rows;
    for (int i = 0; i < r->count; i++) {
        if (rows[i].chosen) r->chosen = i;
        if (race->baseline >= 0 && !strcmp(rows[i].kernel, race->candidates[race->baseline].kernel)) r->baseline = i;
    }
    judge(r, rows);
    set_roofline(bench, r, rows);
    return BRAID_OK;
}

braid_status bench_plan(const braid_bench *bench, braid_op *op, int again) {
    const braid_plan_options options = {.effort = bench->options.effort,
                                        .seconds = bench->options.seconds,
                                        .again = again,
                                        .warm = bench->options.warm};
    return lab_from_braid(braid_op_plan(op, &options));
}

/* Appends only what is complete. */
static braid_status run_op(braid_bench *bench, braid_op *op) {
    braid_bench_result result = {0};
    LAB_TRY(bench_plan(bench, op, !bench->options.remember));
    braid_status status = fill_result(bench, op, &result);
    if (!status && bench->options.gate) status = gate(bench, op, &result);
    if (!status) status = lab_resize((void **)&bench->results, (size_t)bench->count + 1, sizeof result);
    if (status)
        free_result(&result);
    else
        bench->results[bench->count++] = result;
    return status;
}

braid_status braid_bench_run(braid_bench *bench, const char *problem) {
    braid_problem parsed;
    braid_op *op = NULL;
    if (!bench) return lab_fail(BRAID_ERROR_ARGUMENT, "braid_bench_run: expected a bench, got NULL");
    LAB_TRY(lab_from_braid(braid_problem_parse(problem, &parsed)));
    LAB_TRY(lab_from_braid(braid_op_create(bench->context, &parsed, &op)));
    braid_status status = run_op(bench, op);
    braid_op_destroy(op);
    return status;
}
