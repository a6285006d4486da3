/*
 * braid doctor: what this machine is, which libraries were found, how fast it can be at best, and
 * what is missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

typedef struct doctor_options {
    common_options common;
    int quick;
} doctor_options;

static const option doctor_option_list[] = {
    {"quick", 0, OPTION_FLAG, NULL, NULL, "do not measure the ceilings", offsetof(doctor_options, quick)}, {0}};

static const braid_column missing_columns[] = {{.key = "name", .title = "what"},
                                               {.key = "hint", .title = "how to get it"}};

static const braid_column ceiling_columns[] = {
    {.key = "dtype", .title = "dtype"},
    {.key = "copy_gbs", .title = "copy GB/s", .cell = BRAID_CELL_NUMBER},
    {.key = "gemm_gflops", .title = "matrix product GFLOP/s", .cell = BRAID_CELL_NUMBER},
};

typedef struct tables {
    braid_table *machine, *ceilings, *missing;
    braid_status status;
} tables;

static void add_missing(void *user, const char *section, const char *name, const char *value, const char *hint) {
    tables *t = user;
    (void)section, (void)value;
    if (!hint || t->status) return;
    t->status = braid_table_add_text(t->missing, name);
    if (!t->status) t->status = braid_table_add_text(t->missing, hint);
}

static void add_ceilings(tables *t, braid_dtype dtype, const braid_ceilings *c) {
    if (!t->status) t->status = braid_table_add_text(t->ceilings, braid_dtype_name(dtype));
    if (!t->status) t->status = braid_table_add_number(t->ceilings, 1e-9 * c->copy_bytes_per_s);
    if (!t->status) t->status = braid_table_add_number(t->ceilings, 1e-9 * c->gemm_flops_per_s);
}

/* Does anything but the reference multiply matrices of this dtype here? */
static int has_fast_kernel(braid_context *context, braid_dtype dtype) {
    braid_problem problem = {.op = BRAID_OP_LINEAR, .dtype = dtype, .streams = 1, .batch = 256};
    braid_op *op = NULL;
    problem.in_channels[0] = problem.out_channels[0] = 256;
    braid_status status = braid_op_create(context, &problem, &op);
    if (!status) status = braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
    const braid_race *race = status ? NULL : braid_op_explain(op);
    int fast = race && race->winner >= 0 && race->candidates[race->winner].kind != BRAID_KIND_REF;
    braid_op_destroy(op);
    return fast;
}

/* Dtypes that only the reference computes are left out: its speed is no ceiling. */
static int measure(const doctor_options *options, braid_context *context, tables *t) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    char what[48];
    progress p;
    progress_begin(&p, 3, options->common.quiet);
    for (int i = 0; i < 3 && !interrupted(); i++) {
        braid_ceilings c = {0};
        if (i > 0 && !has_fast_kernel(context, dtypes[i])) continue;
        snprintf(what, sizeof what, "measuring the ceilings of %s", braid_dtype_name(dtypes[i]));
        progress_step(&p, i, what);
        braid_status status = braid_context_ceilings(context, dtypes[i], &c);
        progress_clear(&p);
        if (status && i == 0) return complain_braid(status);
        if (!status && c.gemm_flops_per_s > 0) add_ceilings(t, dtypes[i], &c);
    }
    return 0;
}

/* Gives a table to the report, which owns it from then on. */
static braid_status hand_over(braid_report *report, const char *key, const char *title, braid_table **table) {
    braid_table *given = *table;
    *table = NULL;
    return braid_report_add_table(report, key, title, given);
}

static braid_status make_report(const doctor_options *options, tables *t, braid_report **report) {
    int missing = braid_table_rows(t->missing), json = options->common.format == BRAID_FORMAT_JSON;
    braid_status status = braid_report_create(report);
    if (!status) status = braid_report_add_text(*report, "version", "braid", braid_version());
    if (!status) status = hand_over(*report, "machine", NULL, &t->machine);
    if (!status && (json || !options->quick))
        status = hand_over(*report, "ceilings", "Measured ceilings:", &t->ceilings);
    if (!status && missing == 0 && !json) return braid_report_add_words(*report, "Nothing is missing.");
    if (!status) status = hand_over(*report, "missing", "Missing, or could be better:", &t->missing);
    return status;
}

static int examine(const doctor_options *options, braid_context *context, tables *t) {
    braid_report *report = NULL;
    braid_status status = braid_context_describe(context, add_missing, t);
    if (status) return complain_braid(status);
    int code = options->quick ? 0 : measure(options, context, t);
    if (code) return code;
    if (t->status) return complain_lab(t->status);
    if (interrupted()) return EXIT_INTERRUPTED;
    status = make_report(options, t, &report);
    if (status) {
        braid_report_destroy(report);
        return complain_lab(status);
    }
    return output_report(report, (braid_format)options->common.format);
}

static int run(const verb *self, int argc, char **argv) {
    doctor_options options = {0};
    arguments words;
    braid_context *context = NULL;
    tables t = {0};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    interrupt_begin();
    code = context_open(&options.common, &context);
    if (code) return code;
    t.status = braid_machine_table(context, &t.machine);
    if (!t.status) t.status = braid_table_create(ceiling_columns, 3, &t.ceilings);
    if (!t.status) t.status = braid_table_create(missing_columns, 2, &t.missing);
    code = t.status ? complain_lab(t.status) : examine(&options, context, &t);
    braid_table_destroy(t.machine);
    braid_table_destroy(t.ceilings);
    braid_table_destroy(t.missing);
    braid_context_destroy(context);
    return code;
}

const verb verb_doctor = {
    .name = "doctor",
    .group = "Start",
    .arguments = "",
    .summary = "the machine, the libraries found, measured ceilings, what is missing",
    .about = "Shows what this machine is, which vendor libraries were found and which file was opened, and\n"
             "how fast a copy and a matrix product can be here: the ceilings that bench compares with.\n"
             "What is missing is listed with the way to get it. A missing library is no error.",
    .options = doctor_option_list,
    .examples = "braid doctor\nbraid doctor --quick -o json\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK,
    .run = run,
};
