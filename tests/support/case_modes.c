/*
 * The support matrix and the timing table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/case_modes.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"

const char *cannot_run_here(const kernel *k, const device *d) {
    static char reason[160];
    unsigned missing = k->features & ~d->features;
    int on_cpu = strcmp(d->backend->name, "cpu") == 0;
    if (!kernel_runs_on(k, d)) {
        snprintf(reason, sizeof reason, "runs on %s, this run is on %s", on_cpu ? "a GPU" : "the CPU", d->name);
        return reason;
    }
    if (missing) {
        snprintf(reason, sizeof reason, "needs %s, which this device does not have%s",
                 feature_name(missing & (~missing + 1)), on_cpu ? " or BRAID_ISA masks" : "");
        return reason;
    }
    if (k->vendor && strcmp(k->vendor, "onednn") == 0) return onednn_library()->reason;
    if (k->vendor && strcmp(k->vendor, "openblas") == 0) return openblas_library()->reason;
    return NULL;
}

/* ---- Support ------------------------------------------------------------------------------- */

/* How much of the list a candidate can do in one dtype, and the first reason where it cannot. */
typedef struct support_row {
    int able, asked, wordless;
    char reason[160];
} support_row;

static support_row ask(const suite *s, const case_list *list, const kernel *k, braid_dtype dtype) {
    support_row row = {0};
    for (int j = 0; j < list->count; j++) {
        const braid_problem *p = &list->problems[j];
        if (p->pass != k->pass || p->dtype != dtype) continue;
        const char *reason = kernel_refuses(k, p, s->device);
        row.asked++;
        row.able += reason == NULL;
        row.wordless += reason && strlen(reason) < 4;
        if (reason && !row.reason[0]) snprintf(row.reason, sizeof row.reason, "%s", reason);
    }
    return row;
}

static void support_of_pass(suite *s, const case_list *list, braid_pass pass, braid_dtype dtype, int print) {
    int by_reference = 0, asked = 0;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != s->op || k->pass != pass) continue;
        support_row row = ask(s, list, k, dtype);
        asked = row.asked;
        if (k->backend == KERNEL_REF) by_reference = row.able;
        if (print) {
            printf("%-10s %-5s %-42s %5d of %5d  %s\n", braid_pass_name(s->op, pass), braid_dtype_name(dtype), k->name,
                   row.able, row.asked, row.reason);
        }
        if (row.wordless) suite_expect(s, 0, "%s refuses %d problems without a reason in words", k->name, row.wordless);
    }
    if (strcmp(s->device->backend->name, "cpu") == 0) {
        suite_expect(s, (asked > 0 || list->count < CASE_LIST_ALL_KINDS) && by_reference == asked,
                     "support: %s %s %s: expected the reference to do all %d problems, it does %d",
                     braid_op_id_name(s->op), braid_pass_name(s->op, pass), braid_dtype_name(dtype), asked,
                     by_reference);
    }
}

void support_matrix(suite *s, const case_list *list, int print) {
    if (print) printf("%-10s %-5s %-42s %-15s first reason not to\n", "pass", "dtype", "candidate", "problems");
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
        if (!braid_pass_name(s->op, (braid_pass)pass)) continue;
        for (int dtype = BRAID_DTYPE_F32; dtype <= BRAID_DTYPE_F64; dtype++) {
            support_of_pass(s, list, (braid_pass)pass, (braid_dtype)dtype, print);
        }
    }
}

/* ---- Perf ---------------------------------------------------------------------------------- */

static void print_race(const char *text, const braid_race *r) {
    printf("%s\n", text);
    for (int j = 0; j < r->count; j++) {
        const braid_candidate *c = &r->candidates[j];
        if (c->median_s > 0) {
            printf("  %-42s %12.3f us %9.2f GFLOP/s %9.2f GB/s%s\n", c->kernel, c->median_s * 1e6,
                   r->flops / c->median_s * 1e-9, r->bytes / c->median_s * 1e-9, j == r->winner ? "  chosen" : "");
        } else {
            printf("  %-42s not timed: %s\n", c->kernel, c->reason ? c->reason : "no reason");
        }
    }
}

static braid_status time_problem(braid_context *context, const braid_problem *p, const char *text) {
    braid_op *op = NULL;
    braid_plan_options options = {.seconds = 0.2, .again = 1};
    TRY(braid_op_create(context, p, &op));
    braid_status status = braid_op_plan(op, &options);
    if (status == BRAID_OK) print_race(text, braid_op_explain(op));
    braid_op_destroy(op);
    return status;
}

braid_status perf_table(suite *s, const case_list *list) {
    braid_context *context = NULL;
    braid_context_options options = {.device = s->device->name, .cache_dir = ""};
    TRY(braid_context_create(&options, &context));
    braid_status status = BRAID_OK;
    for (int j = 0; j < list->count && status == BRAID_OK; j++) {
        status = time_problem(context, &list->problems[j], list->texts[j]);
        s->passed += status == BRAID_OK;
    }
    braid_context_destroy(context);
    return status;
}
