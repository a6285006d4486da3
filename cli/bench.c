/*
 * braid bench: every candidate of every problem side by side, in rows that come as they are
 * measured; --gate makes a promise of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_network.h"
#include "bench_prove.h"
#include "cli.h"

typedef struct bench_options {
    common_options common;
    network_options network;
    double seconds;
    const char *filter, *out;
    int list, gate, what, warm, prove, rows;
} bench_options;

#define OFFSET(member) offsetof(bench_options, member)
static const option bench_option_list[] = {
    OPTION_GROUP("What is raced"),
    {"filter", 0, OPTION_TEXT, "TEXT", "all", "only problems that contain TEXT; several with commas", OFFSET(filter)},
    {"list", 0, OPTION_FLAG, NULL, NULL, "print the problems and run none; without an argument, the suites",
     OFFSET(list)},
    {"what", 0, OPTION_CHOICE, "train|forward|step", "train",
     "of a network: forward, loss and backward; forward alone; or with the update", OFFSET(what)},
    OPTION_GROUP("How"),
    {"seconds", 0, OPTION_REAL, "S", "2; of a network 5, of a proof 0.5",
     "time budget of each race, or of timing a network", OFFSET(seconds)},
    {"warm", 0, OPTION_FLAG, NULL, NULL,
     "on one copy of the operands, which a cache may hold; its rows say so, and nothing is remembered", OFFSET(warm)},
    {"gate", 0, OPTION_FLAG, NULL, NULL, "race again; exit 1 where the choice is slower than the vendor's",
     OFFSET(gate)},
    {"out", 0, OPTION_TEXT, "DIR", "none",
     "also write run.json and results.csv to DIR; of proofs rows.csv and sums.csv", OFFSET(out)},
    OPTION_GROUP("Proofs"),
    {"prove", 0, OPTION_FLAG, NULL, NULL,
     "race kernels against themselves, with 0, 2 and 5 % of time planted; without an argument, the suite prove",
     OFFSET(prove)},
    {"rows", 0, OPTION_STEPS, "N", "each problem once", "of --prove: so many races, from the first problem again",
     OFFSET(rows)},
    {0}};

typedef struct bench_job {
    const bench_options *options;
    char **argv;
    int argc;
    const char **problems; /* borrowed from the suites and the command line */
    int count;
    braid_suite *suites[MAX_ARGUMENTS]; /* NULL where the word is a problem */
    braid_bench *bench;
    braid_context *context;
} bench_job;

/* ---- which problems ----------------------------------------------------------------------- */

static int matches(const char *problem, const char *filter) {
    char word[256];
    while (filter && *filter) {
        size_t length = strcspn(filter, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, filter);
        if (length && strstr(problem, word)) return 1;
        filter += length + (filter[length] == ',');
    }
    return 0;
}

static void add_problem(bench_job *job, const char *problem) {
    if (!job->options->filter || matches(problem, job->options->filter)) job->problems[job->count++] = problem;
}

/* A word with a colon in it and no slash before is a problem; anything else names a suite. */
static int is_problem(const char *word) {
    size_t first = strcspn(word, ":/");
    return word[first] == ':';
}

/* A name that is near is said; of a file its own fault. */
static int unknown_suite(braid_status status, const char *word) {
    char example[BRAID_PROBLEM_TEXT];
    const char *nearest = nearest_name(word, NAMES_SUITES | NAMES_NETWORKS | NAMES_OPS);
    if (op_example(word, example))
        return complain((int)status, "expected a problem with its shape, such as %s, got the op %s alone", example,
                        word);
    if (status != BRAID_ERROR_ARGUMENT || strchr(word, '/') || strchr(word, '.') || !nearest)
        return complain_lab(status);
    return complain((int)status, "%s; did you mean %s?", braid_lab_message(), nearest);
}

/* Parses a problem or reads a suite, and counts what it brings. The suite of word i is suites[i]. */
static int read_word(bench_job *job, const char *word, int i, int *brings) {
    braid_problem problem;
    int typed = is_problem(word);
    braid_status status = typed ? braid_problem_parse(word, &problem) : braid_suite_read(word, &job->suites[i]);
    if (status) return typed ? problem_complain(status, word) : unknown_suite(status, word);
    *brings += typed ? 1 : braid_suite_count(job->suites[i]);
    return 0;
}

static void add_word(bench_job *job, const char *word, const braid_suite *suite) {
    if (!suite) add_problem(job, word);
    for (int i = 0; suite && i < braid_suite_count(suite); i++) add_problem(job, braid_suite_problem(suite, i));
}

static int list_suites(void) {
    char *names = NULL;
    braid_status status = braid_suite_names(&names);
    if (status) return complain_lab(status);
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) puts(name);
    braid_text_destroy(names);
    return 0;
}

static int gather(bench_job *job, const arguments *words) {
    int total = 0;
    for (int i = 0; i < words->count; i++) {
        int code = read_word(job, words->word[i], i, &total);
        if (code) return code;
    }
    job->problems = calloc((size_t)total + 1, sizeof *job->problems);
    if (!job->problems) return complain(BRAID_ERROR_MEMORY, "no memory for %d problems", total);
    for (int i = 0; i < words->count; i++) add_word(job, words->word[i], job->suites[i]);
    if (job->count) return 0;
    return complain(BRAID_ERROR_ARGUMENT, "--filter: no problem contains \"%s\"; --list prints them all",
                    job->options->filter);
}

/* ---- what is printed ---------------------------------------------------------------------- */

/* Why a candidate has no row, for -v. */
static void print_skipped(const braid_bench_result *r) {
    for (int i = 0; i < r->count; i++)
        if (r->rows[i].reason) fprintf(stderr, "  %s: %s\n", r->rows[i].kernel, r->rows[i].reason);
}

/* Rows of the last problem, as soon as they are there; json is one list and waits for the end. */
static int print_last(const bench_job *job) {
    braid_table *table = NULL;
    braid_print_options options = output_options((braid_format)job->options->common.format);
    int last = braid_bench_count(job->bench) - 1;
    if (job->options->common.verbose) print_skipped(braid_bench_result_at(job->bench, last));
    if (options.format == BRAID_FORMAT_JSON) return 0;
    options.no_heading = last > 0;
    braid_status status = braid_bench_table(job->bench, last, 0, &table);
    return status ? complain_lab(status) : output_table(table, &options);
}

static int print_json(const bench_job *job) {
    braid_table *table = NULL;
    braid_status status = braid_bench_table(job->bench, 0, 0, &table);
    return status ? complain_lab(status) : output_table(table, &(braid_print_options){.format = BRAID_FORMAT_JSON});
}

static void print_gate(const bench_job *job, const braid_bench_summary *s, FILE *out) {
    if (s->gate_failures == 0) {
        fprintf(out,
                s->gated ? "gate OK: on none of %d problems is the chosen kernel slower beyond noise\n"
                         : "gate OK: nothing to hold the chosen kernels against took part (%d problems)\n",
                s->gated ? s->gated : s->problems);
        return;
    }
    fprintf(out, "gate FAILED on %d of %d problems:\n", s->gate_failures, s->gated);
    for (int i = 0; i < braid_bench_count(job->bench); i++) {
        const braid_bench_result *r = braid_bench_result_at(job->bench, i);
        if (r->gate < 0)
            fprintf(out, "  %s: %s runs at %.2fx the speed of %s\n", r->problem, r->rows[r->chosen].kernel,
                    r->gate_ratio, r->baseline_name);
    }
}

/* Problems of fused ops without a vendor's kernel, which ran against the chain of natural ops. */
static void print_chains(const bench_job *job, FILE *out) {
    int problems = 0, fused = 0, chains = 0;
    for (int i = 0; i < braid_bench_count(job->bench); i++) {
        const braid_bench_result *r = braid_bench_result_at(job->bench, i);
        if (r->baseline < 0 || r->chosen < 0 || r->rows[r->baseline].kind != BRAID_KIND_CHAIN) continue;
        problems++;
        chains += r->chosen == r->baseline;
        fused += r->rows[r->chosen].verdict == BRAID_VERDICT_FAST;
    }
    if (problems)
        fprintf(out, "%d with a chain and no vendor kernel: fused faster on %d, the chain on %d\n", problems, fused,
                chains);
}

/* Races beside other work, whose times chose nothing. */
static void print_busy(const bench_job *job, FILE *out) {
    const braid_bench_result *busy = NULL;
    int count = 0;
    for (int i = 0; i < braid_bench_count(job->bench); i++) {
        const braid_bench_result *r = braid_bench_result_at(job->bench, i);
        if (!r->is_busy) continue;
        busy = r;
        count++;
    }
    if (busy && braid_bench_count(job->bench) > 1)
        fprintf(out,
                "%d ran beside other work (the last: %s); there the cost model chose and nothing is remembered; "
                "run them again on a quiet machine, or set BRAID_BUSY=ignore where it is never quiet\n",
                count, busy->load);
}

/* On standard output after a table, on standard error beside csv, json and md. */
static void print_summary(const bench_job *job, const braid_bench_summary *s) {
    FILE *out = job->options->common.format == BRAID_FORMAT_TABLE ? stdout : stderr;
    if (out == stderr && job->options->common.quiet && !s->gate_failures) return;
    fprintf(out, "\n%d problem%s", s->problems, s->problems == 1 ? "" : "s");
    const braid_bench_result *only = s->problems == 1 ? braid_bench_result_at(job->bench, 0) : NULL;
    if (only && only->chosen >= 0 && (s->against_vendor || only->is_busy))
        fprintf(out, "; %s: %s", only->rows[only->chosen].kernel, only->why);
    else if (s->against_vendor)
        fprintf(out,
                ", %d with a vendor kernel: own faster on %d, vendor on %d, tied within noise on %d; "
                "the choice is %.2fx as fast as the vendor (geometric mean)",
                s->against_vendor, s->own_wins, s->vendor_wins, s->ties, s->geometric_mean);
    if (s->slower) fprintf(out, "; slower on %d", s->slower);
    fputc('\n', out);
    print_chains(job, out);
    print_busy(job, out);
    if (job->options->gate) print_gate(job, s, out);
}

/* ---- the run folder ----------------------------------------------------------------------- */

static braid_status fill_run(const bench_job *job, const braid_bench_summary *s, braid_table *rows,
                             braid_report *report) {
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    braid_status status = braid_report_add_table(report, "rows", NULL, rows);
    if (!status) status = braid_report_add_number(report, "schema", NULL, 1);
    if (!status) status = braid_report_add_text(report, "date", NULL, date);
    if (!status) status = braid_report_add_text(report, "version", NULL, braid_version());
    if (!status) status = braid_report_add_number(report, "abi", NULL, braid_abi());
    if (!status) status = braid_report_add_text(report, "verb", NULL, "bench");
    if (!status) status = braid_report_add_list(report, "argv", (const char *const *)job->argv, job->argc);
    if (!status) status = braid_report_add_number(report, "problems", NULL, s->problems);
    if (!status) status = braid_report_add_number(report, "asked", NULL, job->count);
    if (!status)
        status = braid_report_add_number(report, "gate_failures", NULL,
                                         job->options->gate ? (double)s->gate_failures : (double)NAN);
    braid_table *machine = NULL;
    if (!status) status = braid_machine_table(job->context, &machine);
    return status ? status : braid_report_add_table(report, "machine", NULL, machine);
}

static braid_status save_as(const bench_job *job, const braid_report *report, braid_format format, const char *name) {
    char *text = NULL;
    braid_status status = braid_report_print(report, &(braid_print_options){.format = format}, &text);
    if (!status) status = braid_text_save(job->options->out, name, text);
    braid_text_destroy(text);
    return status;
}

static int save_run(const bench_job *job, const braid_bench_summary *s) {
    braid_table *rows = NULL;
    braid_report *report = NULL;
    braid_status status = braid_bench_table(job->bench, 0, 1, &rows);
    if (!status) status = braid_report_create(&report);
    if (status) {
        braid_table_destroy(rows);
        return complain_lab(status);
    }
    status = fill_run(job, s, rows, report);
    if (!status) status = save_as(job, report, BRAID_FORMAT_JSON, "run.json");
    if (!status) status = save_as(job, report, BRAID_FORMAT_CSV, "results.csv");
    braid_report_destroy(report);
    if (status) return complain_lab(status);
    if (!job->options->common.quiet)
        fprintf(stderr, "wrote %s/run.json and %s/results.csv\n", job->options->out, job->options->out);
    return 0;
}

/* ---- running ------------------------------------------------------------------------------ */

/* A problem that cannot be measured ends the run; what was measured before is kept. */
static int measure(bench_job *job) {
    progress p;
    int code = 0;
    progress_begin(&p, job->count, job->options->common.quiet);
    for (int i = 0; i < job->count && !code && !interrupted() && !output_broken(); i++) {
        progress_step(&p, i, job->problems[i]);
        braid_status status = braid_bench_run(job->bench, job->problems[i]);
        progress_clear(&p);
        code = status ? complain((int)status, "%s: %s", job->problems[i], braid_lab_message()) : print_last(job);
    }
    return code;
}

static int run_job(bench_job *job) {
    braid_bench_summary summary;
    const braid_bench_options options = {
        .seconds = job->options->seconds, .gate = job->options->gate, .warm = job->options->warm};
    int code = context_open(&job->options->common, &job->context);
    if (code) return code;
    braid_status status = braid_bench_create(job->context, &options, &job->bench);
    if (status) return complain_lab(status);
    code = measure(job);
    braid_bench_summarize(job->bench, &summary);
    if (job->options->common.format == BRAID_FORMAT_JSON) {
        int printed = print_json(job);
        if (!code) code = printed;
    }
    if (summary.problems > 0) print_summary(job, &summary);
    if (job->options->out && summary.problems > 0) {
        int saved = save_run(job, &summary);
        if (!code) code = saved;
    }
    if (!code && interrupted()) code = EXIT_INTERRUPTED;
    if (!code && summary.gate_failures) code = BRAID_ERROR_CHECK;
    return code;
}

static int print_list(const bench_job *job) {
    for (int i = 0; i < job->count; i++) puts(job->problems[i]);
    return 0;
}

/* 1 where one of the words is a network, or a run. */
static int names_network(const arguments *words) {
    for (int i = 0; i < words->count; i++)
        if (network_is_name(words->word[i]) || network_is_run(words->word[i])) return 1;
    return 0;
}

static int bench_only_networks(const verb *self, const bench_options *options, const arguments *words) {
    for (int i = 0; i < words->count; i++) {
        if (!network_is_name(words->word[i]) && !network_is_run(words->word[i]))
            return complain(BRAID_ERROR_ARGUMENT,
                            "expected networks alone or problems and suites alone, got \"%s\" beside a network",
                            words->word[i]);
    }
    const char *given = options->gate     ? "--gate"
                        : options->list   ? "--list"
                        : options->filter ? "--filter"
                        : options->out    ? "--out"
                        : options->warm   ? "--warm"
                        : options->prove  ? "--prove"
                                          : NULL;
    if (given) return complain(BRAID_ERROR_ARGUMENT, "%s: expected with problems and suites, got a network", given);
    return bench_networks(&(network_bench){.verb = self,
                                           .words = words,
                                           .common = &options->common,
                                           .network = &options->network,
                                           .what = (network_run)options->what,
                                           .seconds = options->seconds});
}

static int prove(const bench_job *job) {
    const bench_options *o = job->options;
    return bench_prove(&(proof_job){.common = &o->common,
                                    .problems = job->problems,
                                    .count = job->count,
                                    .rows = o->rows,
                                    .seconds = o->seconds,
                                    .out = o->out});
}

static int check_prove(const bench_options *options) {
    if (options->prove && (options->gate || options->warm))
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected without --prove", options->gate ? "--gate" : "--warm");
    if (options->rows && !options->prove)
        return complain(BRAID_ERROR_ARGUMENT, "--rows: expected with --prove, got without");
    return 0;
}

static int run(const verb *self, int argc, char **argv) {
    bench_options options = {0};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    if (words.count == 0 && options.list) return list_suites();
    if (words.count == 0 && options.prove) words.word[words.count++] = "prove";
    if (words.count == 0)
        return complain(BRAID_ERROR_ARGUMENT, "expected %s, got nothing; braid bench --list names the suites",
                        self->arguments);
    interrupt_begin();
    if (names_network(&words)) return bench_only_networks(self, &options, &words);
    code = network_refuse(&options.network, "expected with networks, got a problem or a suite");
    if (!code && options.what) code = complain(BRAID_ERROR_ARGUMENT, "--what: expected with networks, got none");
    if (!code) code = check_prove(&options);
    if (code) return code;
    bench_job job = {.options = &options, .argc = argc, .argv = argv};
    code = gather(&job, &words);
    if (!code) code = options.list ? print_list(&job) : options.prove ? prove(&job) : run_job(&job);
    braid_bench_destroy(job.bench);
    braid_context_destroy(job.context);
    for (int i = 0; i < words.count; i++) braid_suite_destroy(job.suites[i]);
    free(job.problems);
    return code;
}

const verb verb_bench = {
    .name = "bench",
    .group = "Kernels and speed",
    .arguments = "PROBLEM|SUITE|NET|RUN ...",
    .summary = "the candidates of each problem side by side",
    .about = "Races all candidates of each problem and prints a row for each: the median time of one launch and\n"
             "its interval, GFLOP/s, GB/s, the share of the roofline (the time that the measured ceilings of this\n"
             "machine allow), and the baseline's time over this one's. The baseline is the fastest vendor\n"
             "candidate; where none takes part it is the chain of a fused op, else ref, the plain C reference.\n\n"
             "verdict: FAST or SLOW where the interval of the ratio does not hold 1 (false in 1 of 1000 races\n"
             "at most), SAME where it holds 1 and reaches at most 5 % from it, AMBIGUOUS where it reaches\n"
             "further or other work ran beside the race, BASE for the baseline, FAIL for a candidate whose\n"
             "results are wrong (it has no time), - where nothing is shown. \"chosen\" marks the kernel that a\n"
             "plan takes. A handicapped library runs below the best instruction set of this CPU: to be faster\n"
             "than it proves nothing. err/tol is the largest error as a share of the tolerance; copies are\n"
             "bytes moved only to rearrange activations.\n\n"
             "A suite is a file with a problem on each line, by name or by path. -v tells on standard error why\n"
             "a candidate has no row. With -o json: a list of rows with the keys problem, kernel, kind, device,\n"
             "dtype, median_ms, low_ms, high_ms, gflops, gbs, roofline, ratio, ratio_low, ratio_high,\n"
             "baseline, verdict, max_err, layout_copy_bytes, buffers (cold or warm) and load. --gate races\n"
             "again: a choice that is slower than the fastest vendor candidate beyond noise gives way to the\n"
             "fresh race's, which must be confirmed; it fails where four races confirm none.\n"
             "--prove tells how often these verdicts are wrong: the kernel of each problem races copies of\n"
             "itself, of which two take 2 % and 5 % longer, in an order that is drawn. It prints false claims,\n"
             "what was found and what was not decided; csv, json and -v have every row.\n"
             "Of networks it times whole passes: see --what, and --batch, --size and the other options of\n"
             "networks. A RUN brings its own network, batch, size and dtype.\n"
             "Ctrl-C ends after the current problem and keeps what was measured (exit 130).",
    .options = bench_option_list,
    .examples = "braid bench conv2d_fwd:f32:n3:b2:hw26x34:c256:k256:rs3x3:pad1\n"
                "braid bench linet3 --device cpu --gate\n"
                "braid bench linet3 --filter conv2d_bwd -o csv > rows.csv\n"
                "braid bench linet18 --batch 2 --size 208x272 --dtype bf16\n"
                "braid bench run --what step\n"
                "braid bench --prove --rows 100 --out proofs\n"
                "braid bench --list\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_DETAIL | COMMON_NETWORK,
    .most = MAX_ARGUMENTS,
    .run = run,
};
