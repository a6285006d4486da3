/*
 * braid explain: one problem, its work, the race between its candidates, and why the winner won.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "plan_report.h"

typedef struct explain_options {
    common_options common;
    network_options network;
    int effort; /* braid_effort */
    int again, phase;
    double seconds;
} explain_options;

#define OFFSET(member) offsetof(explain_options, member)
static const option explain_option_list[] = {
    OPTION_GROUP("How kernels are chosen"),
    {"effort", 0, OPTION_CHOICE, "measure|estimate|exhaustive", "measure",
     "by races, by the cost model, or by long races", OFFSET(effort)},
    {"seconds", 0, OPTION_REAL, "S", "2; of a network 16", "time budget of the race, or of all races of a network",
     OFFSET(seconds)},
    {"again", 0, OPTION_FLAG, NULL, NULL, "measure even if the answer is remembered", OFFSET(again)},
    {"phase", 0, OPTION_CHOICE, "train|eval", "train", "of a network: a training step with AdamW, or a forward pass",
     OFFSET(phase)},
    {0}};

static const braid_column candidate_columns[] = {
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "kind", .title = "kind"},
    {.key = "architecture", .title = "needs", .optional = 2},
    {.key = "median_ms", .title = "ms", .cell = BRAID_CELL_NUMBER},
    {.key = "low_ms", .title = "low", .cell = BRAID_CELL_NUMBER, .optional = 2},
    {.key = "high_ms", .title = "high", .cell = BRAID_CELL_NUMBER, .optional = 2},
    {.key = "roofline", .title = "roof", .cell = BRAID_CELL_PERCENT},
    {.key = "ratio", .title = "vs base", .cell = BRAID_CELL_RATIO},
    {.key = "ratio_low", .title = "from", .cell = BRAID_CELL_RATIO, .optional = 2},
    {.key = "ratio_high", .title = "to", .cell = BRAID_CELL_RATIO, .optional = 2},
    {.key = "verdict", .title = "verdict"},
    {.key = "chosen", .cell = BRAID_CELL_COUNT},
    {.key = "handicapped", .cell = BRAID_CELL_COUNT},
    {.key = "max_err", .title = "err/tol", .cell = BRAID_CELL_NUMBER, .optional = 3},
    {.key = "compared", .title = "compared", .cell = BRAID_CELL_COUNT, .optional = 4},
    {.key = "workspace_bytes", .title = "workspace", .cell = BRAID_CELL_BYTES, .optional = 3},
    {.key = "layout_copy_bytes", .title = "copies", .cell = BRAID_CELL_BYTES, .optional = 4},
    {.key = "reason", .title = "note"},
};
#define CANDIDATE_COLUMNS ((int)(sizeof candidate_columns / sizeof candidate_columns[0]))

static const char *note_of(const braid_bench_row *row) {
    if (row->reason) return row->reason;
    return row->handicapped ? "handicapped: below this CPU's best instruction set" : row->chosen ? "chosen" : NULL;
}

/* Known of kernels that were readied: to be timed, or because they were chosen. */
static double workspace_of(const braid_bench_row *row) {
    return row->chosen || !isnan(row->median_s) ? (double)row->workspace_bytes : (double)NAN;
}

static braid_status add_candidate(braid_table *table, const braid_bench_row *row) {
    const char *note = note_of(row);
    braid_status status = braid_table_add_text(table, row->kernel);
    if (!status) status = braid_table_add_text(table, braid_kind_name(row->kind));
    if (!status) status = braid_table_add_text(table, braid_kernel_architecture(row->kernel));
    const double before[] = {1e3 * row->median_s, 1e3 * row->low_s, 1e3 * row->high_s, row->roofline,
                             row->ratio,          row->ratio_low,   row->ratio_high};
    for (int i = 0; i < 7 && !status; i++) status = braid_table_add_number(table, before[i]);
    if (!status) status = braid_table_add_text(table, braid_verdict_name(row->verdict));
    const double after[] = {row->chosen,           row->handicapped,  row->max_err,
                            (double)row->compared, workspace_of(row), (double)row->layout_copy_bytes};
    for (int i = 0; i < 6 && !status; i++) status = braid_table_add_number(table, after[i]);
    return status ? status : braid_table_add_text(table, note);
}

static braid_status make_candidates(const braid_bench_result *r, braid_table **table) {
    braid_status status = braid_table_create(candidate_columns, CANDIDATE_COLUMNS, table);
    for (int i = 0; i < r->count && !status; i++) status = add_candidate(*table, &r->rows[i]);
    if (status) {
        braid_table_destroy(*table);
        *table = NULL;
    }
    return status;
}

/* What the problem is made of, in the words of the first lines. */
static braid_status add_work(const braid_bench_result *r, braid_report *report) {
    char work[160], bound[160];
    double intensity = r->bytes > 0 ? r->flops / r->bytes : NAN;
    snprintf(work, sizeof work, "%.4g GFLOP, %.4g MB at least, %.3g FLOP per byte", 1e-9 * r->flops, 1e-6 * r->bytes,
             intensity);
    if (isnan(r->roofline_s))
        snprintf(bound, sizeof bound, "not known: the ceilings of this dtype were not measured");
    else
        snprintf(bound, sizeof bound, "%.4g ms at least, set by the %s", 1e3 * r->roofline_s,
                 r->memory_bound ? "memory (copy ceiling)" : "arithmetic (matrix product ceiling)");
    braid_status status = braid_report_add_text(report, "work", "work", work);
    if (!status) status = braid_report_add_text(report, "roofline", "roofline", bound);
    if (!status) status = braid_report_add_number(report, "flops", NULL, r->flops);
    if (!status) status = braid_report_add_number(report, "bytes", NULL, r->bytes);
    if (!status) status = braid_report_add_number(report, "flops_per_byte", NULL, intensity);
    return status ? status : braid_report_add_number(report, "roofline_ms", NULL, 1e3 * r->roofline_s);
}

static const char *times_text(const explain_options *options, const braid_bench_result *r) {
    if (options->effort == BRAID_EFFORT_ESTIMATE) return "none: chosen by the cost model (--effort measure races)";
    return r->from_wisdom ? "remembered from an earlier race (--again measures)" : "measured now";
}

static const char *chosen_text(const braid_bench_result *r) {
    return r->chosen >= 0 ? r->rows[r->chosen].kernel : "none";
}

static braid_status fill_report(const explain_options *options, const braid_bench_result *r, braid_report *report) {
    braid_table *candidates = NULL;
    braid_status status = braid_report_add_text(report, "problem", "problem", r->problem);
    if (!status) status = braid_report_add_text(report, "device", "device", r->device);
    if (!status) status = add_work(r, report);
    if (!status) status = braid_report_add_text(report, "times", "times", times_text(options, r));
    if (!status) status = braid_report_add_number(report, "from_wisdom", NULL, r->from_wisdom);
    if (!status && *r->load) status = braid_report_add_text(report, "load", "beside it", r->load);
    if (!status) status = braid_report_add_number(report, "is_busy", NULL, r->is_busy);
    if (!status && *r->baseline_name) status = braid_report_add_text(report, "baseline", "baseline", r->baseline_name);
    if (!status) status = make_candidates(r, &candidates);
    if (!status) status = braid_report_add_table(report, "candidates", NULL, candidates);
    if (!status) status = braid_report_add_text(report, "chosen", "chosen", chosen_text(r));
    return status ? status : braid_report_add_text(report, "why", "why", r->why);
}

static int explain(const explain_options *options, braid_context *context, const char *problem) {
    braid_bench *bench = NULL;
    braid_report *report = NULL;
    const braid_bench_options wanted = {
        .effort = (braid_effort)options->effort, .seconds = options->seconds, .remember = !options->again};
    braid_status status = braid_bench_create(context, &wanted, &bench);
    if (!status) status = braid_bench_run(bench, problem);
    if (!status) status = braid_report_create(&report);
    if (!status) status = fill_report(options, braid_bench_result_at(bench, 0), report);
    braid_bench_destroy(bench);
    if (!status) return output_report(report, (braid_format)options->common.format);
    braid_report_destroy(report);
    return complain_lab(status);
}

/* The plan of a network: the fused graph, its memory, the kernels and why each was chosen. */
static int explain_network(const explain_options *options, const char *name) {
    plan_work work = {0};
    braid_report *report = NULL;
    const plan_figures unmeasured = {0};
    const plan_wish wish = {
        .common = &options->common,
        .network = &options->network,
        .phase = (braid_phase)options->phase,
        .optimiser = options->phase == BRAID_PHASE_TRAIN ? BRAID_OPTIMISER_ADAMW : BRAID_OPTIMISER_NONE,
        .choice = {.effort = (braid_effort)options->effort, .seconds = options->seconds, .again = options->again}};
    int code = plan_work_open(name, &wish, &work);
    if (!code) {
        braid_status status = braid_report_create(&report);
        if (!status) status = plan_report_summary(&work, &unmeasured, report);
        if (!status) status = plan_report_calls(&work, &unmeasured, &options->common, report);
        if (status) braid_report_destroy(report);
        code = status ? complain_lab(status) : output_report(report, (braid_format)options->common.format);
    }
    plan_work_close(&work);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

static int run(const verb *self, int argc, char **argv) {
    explain_options options = {0};
    arguments words;
    braid_problem problem;
    braid_context *context = NULL;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    interrupt_begin();
    code = network_take_run(self, words.word[0], &words, &options.common);
    if (code) return code;
    if (network_is_name(words.word[0]) || options.network.file) return explain_network(&options, words.word[0]);
    if (!strchr(words.word[0], ':') && network_nearest(words.word[0])) return network_unknown(words.word[0]);
    braid_status status = braid_problem_parse(words.word[0], &problem);
    if (status) return problem_complain(status, words.word[0]);
    code =
        network_refuse(&options.network, "expected with a network, got a problem, which has its own shape and dtype");
    if (!code && options.phase)
        code = complain(BRAID_ERROR_ARGUMENT, "--phase: expected with a network, got a problem");
    if (code) return code;
    code = context_open(&options.common, &context);
    if (code) return code;
    code = explain(&options, context, words.word[0]);
    braid_context_destroy(context);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

const verb verb_explain = {
    .name = "explain",
    .group = "Kernels and speed",
    .arguments = "PROBLEM|NET|RUN",
    .summary = "the race of one problem, or the plan of a network, and why the winners won",
    .about =
        "Shows the work of one problem (operations, least bytes, the time that the measured ceilings of this\n"
        "machine allow), every candidate with its time, error and workspace or the reason why it took no\n"
        "part, which one is used, and why. The columns are those of braid bench; needs is what a device must have for\n"
        "a kernel of ours (sm_80 or newer, sm_90a alone, an instruction set), compared counts outputs held against\n"
        "the reference. What an earlier race found is remembered; --again measures.\n\n"
        "Of a network it shows the memory that is placed against the sum of all tensors, what the races gained, and\n"
        "the calls of the fused graph, those of one problem together, costliest first: \"against\" is the time of\n"
        "the fastest other candidate (vendor, else chain, else own) over that of the choice. \"again\" marks forward\n"
        "calls that the backward pass repeats to save memory, \"pack\" steps that only lay weights out for a kernel.\n"
        "Of a run (the folder, or a model file) it is the plan at the run's batch, size and dtype.\n"
        "-v lists every call in order, with its reason in full; csv and json have all of it.",
    .options = explain_option_list,
    .examples = "braid explain linet18 --batch 2 --size 208x272\n"
                "braid explain run\n"
                "braid explain conv2d_fwd:f32:n3:b2:hw26x34:c256:k256:rs3x3:pad1\n"
                "braid explain linear_fwd:f32:b256:c256:k512:bias1 --effort estimate\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_DETAIL | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
