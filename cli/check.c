/*
 * braid check: every candidate against the plain reference, on random problems, on one that is typed or
 * on those of a suite. A failure prints the line that repeats it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check_network.h"

typedef struct check_options {
    common_options common;
    network_options network;
    uint64_t seed;
    double seconds;
    int count, vendors, each, list, steps, runs;
} check_options;

#define OFFSET(member) offsetof(check_options, member)
static const option check_option_list[] = {
    OPTION_GROUP("Of ops, problems and suites"),
    {"count", 0, OPTION_COUNT, "N", "50; of a problem or suite 1",
     "problems of each op and pass, or repetitions of what is typed", OFFSET(count)},
    {"vendors", 0, OPTION_WHOLE, "N", "all", "vendor kernels take part in the first N of each op and pass",
     OFFSET(vendors)},
    {"each", 0, OPTION_FLAG, NULL, NULL, "of all those, only as many as it takes to have every kernel checked once",
     OFFSET(each)},
    {"list", 0, OPTION_FLAG, NULL, NULL, "print op, kernel and kind of every candidate of the device, and check none",
     OFFSET(list)},
    {"seconds", 0, OPTION_REAL, "S", "no limit", "draw no further problem after S seconds", OFFSET(seconds)},
    {"seed", 0, OPTION_SEED, "S", "1", "where the random problems and values start", OFFSET(seed)},
    OPTION_GROUP("Of networks"),
    {"steps", 0, OPTION_COUNT, "N", "50", "training steps", OFFSET(steps)},
    {"runs", 0, OPTION_COUNT, "N", "5", "how often the network is trained and compared", OFFSET(runs)},
    {"batch", 0, OPTION_COUNT, "B", "4", "samples at a time", OFFSET(network.batch)},
    {"size", 0, OPTION_TEXT, "HxW", "66x66; lenet86: 86x86", "height and width of the images", OFFSET(network.size)},
    {"dtype", 0, OPTION_CHOICE, "f32|bf16|f16|f64|tf32", "f32", "number format of compute", OFFSET(network.dtype)},
    {0}};

static const braid_column kernel_columns[] = {
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "kind", .title = "kind", .optional = 2},
    {.key = "problems", .title = "problems", .cell = BRAID_CELL_COUNT},
    {.key = "skipped", .title = "skipped", .cell = BRAID_CELL_COUNT, .optional = 1},
    {.key = "compared", .title = "compared", .cell = BRAID_CELL_COUNT},
    {.key = "worst_err", .title = "err/tol", .cell = BRAID_CELL_NUMBER},
    {.key = "failures", .title = "failures", .cell = BRAID_CELL_COUNT},
};
static const braid_column failure_columns[] = {
    {.key = "kernel", .title = "kernel"},
    {.key = "reason", .title = "what went wrong"},
    {.key = "replay", .title = "to repeat it"},
};

static const braid_column problem_columns[] = {
    {.key = "op", .title = "op"},
    {.key = "f32", .title = "f32", .cell = BRAID_CELL_COUNT},
    {.key = "f16", .title = "f16", .cell = BRAID_CELL_COUNT},
    {.key = "bf16", .title = "bf16", .cell = BRAID_CELL_COUNT},
    {.key = "f64", .title = "f64", .cell = BRAID_CELL_COUNT},
};
static const braid_dtype shown_dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16, BRAID_DTYPE_F64};

/* A problem that a kernel was checked on. */
typedef struct seen_problem {
    uint64_t hash;
    braid_op_id op;
    braid_pass pass;
    braid_dtype dtype;
} seen_problem;

/* What one kernel did so far. */
typedef struct tally {
    char *kernel;
    braid_kind kind;
    int checked, skipped, failed;
    int64_t compared;
    double worst_err;
    struct tally *next;
} tally;

typedef struct check_job {
    const check_options *options;
    braid_context *context;
    tally *tallies, **last; /* in the order they came */
    int passed, failed, skipped;
    int drawn; /* 1: random problems, some of which no kernel of the device may do */
    seen_problem *seen;
    size_t seen_count, seen_room;
    braid_table *failures;
    progress progress;
    int step;
} check_job;

/* What is to be checked: a problem, a suite, or else the ops that a word names. */
typedef struct asked {
    const char *word; /* NULL: all ops */
    int is_problem;
    braid_problem problem;
    braid_suite *suite; /* NULL: none */
} asked;

static tally *tally_of(check_job *job, const braid_candidate *c) {
    for (tally *t = job->tallies; t; t = t->next)
        if (!strcmp(t->kernel, c->kernel)) return t;
    tally *t = calloc(1, sizeof *t);
    char *kernel = strdup(c->kernel);
    if (!t || !kernel) {
        free(t);
        free(kernel);
        return NULL;
    }
    *t = (tally){.kernel = kernel, .kind = c->kind, .worst_err = -1};
    *job->last = t;
    job->last = &t->next;
    return t;
}

static void free_tallies(tally *first) {
    for (tally *t = first, *next; t; t = next) {
        next = t->next;
        free(t->kernel);
        free(t);
    }
}

static braid_status note_failure(check_job *job, const char *kernel, const char *reason, const char *problem,
                                 uint64_t seed) {
    char replay[BRAID_PROBLEM_TEXT + 64];
    snprintf(replay, sizeof replay, "braid check '%s' --seed %llu", problem, (unsigned long long)seed);
    job->failed++;
    braid_status status = braid_table_add_text(job->failures, kernel);
    if (!status) status = braid_table_add_text(job->failures, reason);
    return status ? status : braid_table_add_text(job->failures, replay);
}

/* Took part: outputs were compared, or it has an error, or it has no reason not to. */
static int took_part(const braid_candidate *c) { return !c->reason || c->compared > 0 || c->max_err >= 0; }

static int count_candidate(check_job *job, const braid_candidate *c, const char *problem, uint64_t seed) {
    tally *t = tally_of(job, c);
    if (!t) return complain(BRAID_ERROR_MEMORY, "no memory for the results of %s", c->kernel);
    if (!took_part(c) || (!c->reason && c->compared == 0)) {
        t->skipped++;
        job->skipped++;
        return 0;
    }
    t->checked++;
    t->compared += c->compared;
    if (c->max_err > t->worst_err) t->worst_err = c->max_err;
    if (!c->reason && c->max_err <= 1) {
        job->passed++;
        return 0;
    }
    t->failed++;
    braid_status status =
        note_failure(job, c->kernel, c->reason ? c->reason : "the error is above the tolerance", problem, seed);
    return status ? complain_lab(status) : 0;
}

static int count_race(check_job *job, const braid_op *op, const char *problem, uint64_t seed, braid_status checked) {
    const braid_race *race = braid_op_explain(op);
    int failed_before = job->failed, code = 0;
    for (int i = 0; i < race->count && !code; i++) code = count_candidate(job, &race->candidates[i], problem, seed);
    if (code || checked == BRAID_OK || job->failed > failed_before) return code;
    braid_status status = note_failure(job, "-", braid_message(), problem, seed);
    return status ? complain_lab(status) : 0;
}

/* Keeps a problem that a kernel was checked on. */
static int note_problem(check_job *job, const braid_problem *problem, const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    if (job->seen_count == job->seen_room) {
        size_t room = job->seen_room ? 2 * job->seen_room : 1024, each = sizeof *job->seen;
        seen_problem *grown = realloc(job->seen, room * each);
        if (!grown) return complain(BRAID_ERROR_MEMORY, "no memory for %zu problems", room);
        job->seen = grown;
        job->seen_room = room;
    }
    job->seen[job->seen_count++] =
        (seen_problem){.hash = hash, .op = problem->op, .pass = problem->pass, .dtype = problem->dtype};
    return 0;
}

static int by_hash(const void *a, const void *b) {
    uint64_t x = ((const seen_problem *)a)->hash, y = ((const seen_problem *)b)->hash;
    return (x > y) - (x < y);
}

/* Leaves each problem once. */
static void drop_repeated(check_job *job) {
    size_t kept = 0;
    if (job->seen_count) qsort(job->seen, job->seen_count, sizeof *job->seen, by_hash);
    for (size_t j = 0; j < job->seen_count; j++)
        if (j == 0 || job->seen[j].hash != job->seen[j - 1].hash) job->seen[kept++] = job->seen[j];
    job->seen_count = kept;
}

static int count_seen(const check_job *job, braid_op_id op, braid_pass pass, braid_dtype dtype) {
    int count = 0;
    for (size_t j = 0; j < job->seen_count; j++) {
        const seen_problem *s = &job->seen[j];
        count += s->op == op && s->pass == pass && s->dtype == dtype;
    }
    return count;
}

static int check_problem(check_job *job, const braid_problem *problem, uint64_t seed) {
    char text[BRAID_PROBLEM_TEXT];
    braid_op *op = NULL;
    braid_status status = braid_problem_print(problem, text, sizeof text);
    if (status) return complain_braid(status);
    progress_step(&job->progress, job->step++, text);
    status = braid_op_create(job->context, problem, &op);
    if (!status) status = braid_op_check(op, seed);
    progress_clear(&job->progress);
    int code = 0;
    if (job->drawn && op && status == BRAID_ERROR_ARGUMENT) status = BRAID_OK; /* no kernel here: all are skipped */
    int passed_before = job->passed;
    if (status == BRAID_OK || status == BRAID_ERROR_CHECK)
        code = count_race(job, op, text, seed, status);
    else
        code = complain((int)status, "%s: %s", text, braid_message());
    braid_op_destroy(op);
    return !code && job->passed > passed_before ? note_problem(job, problem, text) : code;
}

/* ---- which problems ----------------------------------------------------------------------- */

/* Is this op and pass asked for? NULL asks for all, "conv2d" for its three passes. */
static int is_wanted(braid_op_id op, braid_pass pass, const char *word) {
    char name[64];
    if (!op_full_name(op, pass, name, sizeof name)) return 0;
    return !word || !strcmp(word, name) || !strcmp(word, braid_op_id_name(op));
}

static int unknown_op(const char *word) {
    char names[4096] = "";
    const char *nearest = nearest_name(word, NAMES_OPS | NAMES_NETWORKS | NAMES_SUITES);
    if (nearest)
        return complain(BRAID_ERROR_ARGUMENT,
                        "unknown op \"%s\"; did you mean %s? Expected an op, a problem, a suite or a network", word,
                        nearest);
    for (int op = 0; op < BRAID_OP_COUNT; op++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", braid_op_id_name((braid_op_id)op));
    }
    return complain(BRAID_ERROR_ARGUMENT, "unknown op \"%s\"; expected a problem, a suite, a network, or one of:%s",
                    word, names);
}

static int count_wanted(const char *word) {
    int wanted = 0;
    for (int op = 0; op < BRAID_OP_COUNT; op++)
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++)
            wanted += is_wanted((braid_op_id)op, (braid_pass)pass, word);
    return wanted;
}

/* Every second problem of f32 that has products allows TF32. */
static void allow_tf32(braid_problem *problem, uint64_t seed) {
    braid_problem rounded = *problem;
    rounded.tf32 = 1;
    if (problem->dtype == BRAID_DTYPE_F32 && seed / 2 % 2 && braid_problem_check(&rounded) == BRAID_OK)
        *problem = rounded;
}

/* 1 where a problem has a candidate that was not checked yet. The cost model's choice brings the list of them. */
static int has_unchecked(check_job *job, const braid_problem *problem) {
    braid_op *op = NULL;
    int found = 0;
    braid_status status = braid_op_create(job->context, problem, &op);
    if (!status) status = braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
    const braid_race *race = status ? NULL : braid_op_explain(op);
    for (int i = 0; race && i < race->count && !found; i++) {
        const tally *t = job->tallies;
        while (t && strcmp(t->kernel, race->candidates[i].kernel) != 0) t = t->next;
        found = !race->candidates[i].reason && (!t || t->checked == 0);
    }
    braid_op_destroy(op);
    return found;
}

/* Draw `i` of an op and pass: every other one in a shape that matrix units take. */
static int check_drawn(check_job *job, braid_op_id op, braid_pass pass, int i) {
    braid_problem problem;
    uint64_t seed = job->options->seed + (uint64_t)i;
    braid_status status = (i % 2 ? braid_problem_draw_round : braid_problem_draw)(op, pass, seed, &problem);
    if (status) return complain_braid(status);
    allow_tf32(&problem, seed);
    if (!job->options->each || has_unchecked(job, &problem)) return check_problem(job, &problem, seed);
    job->step++;
    return 0;
}

/* Opens the device once more, without the libraries of vendors. */
static int leave_vendors(check_job *job) {
    static const char vendors[] = "cudnn,cublaslt,onednn,openblas";
    common_options common = job->options->common;
    const char *before = common.disable ? common.disable : getenv("BRAID_DISABLE");
    size_t room = sizeof vendors + 1 + (before ? strlen(before) : 0);
    char *disable = calloc(room, 1);
    if (!disable) return complain(BRAID_ERROR_MEMORY, "no memory for the names that are left out");
    snprintf(disable, room, "%s%s%s", vendors, before ? "," : "", before ? before : "");
    common.disable = disable;
    braid_context_destroy(job->context);
    job->context = NULL;
    int code = context_open(&common, &job->context);
    free(disable);
    return code;
}

static int is_time_up(const check_job *job) {
    return job->options->seconds > 0 && clock_s() - job->progress.started_s > job->options->seconds;
}

/* One problem of each op and pass after the other, so that all had their share where the time is up. */
static int check_ops(check_job *job, const char *word) {
    int draws = job->options->count ? job->options->count : 50, code = 0;
    job->drawn = 1;
    progress_begin(&job->progress, count_wanted(word) * draws, job->options->common.quiet);
    for (int i = 0; i < draws && !code && !interrupted() && !is_time_up(job); i++) {
        if (i == job->options->vendors) code = leave_vendors(job);
        for (int op = 0; op < BRAID_OP_COUNT; op++)
            for (int pass = 0; pass < BRAID_PASS_COUNT && !code && !interrupted(); pass++)
                if (is_wanted((braid_op_id)op, (braid_pass)pass, word))
                    code = check_drawn(job, (braid_op_id)op, (braid_pass)pass, i);
    }
    return code;
}

static int check_typed(check_job *job, const braid_problem *problem) {
    int times = job->options->count ? job->options->count : 1, code = 0;
    progress_begin(&job->progress, times, job->options->common.quiet);
    for (int i = 0; i < times && !code && !interrupted(); i++)
        code = check_problem(job, problem, job->options->seed + (uint64_t)i);
    return code;
}

/* The problems of a suite, one after the other, and then all of them again. */
static int check_suite(check_job *job, const braid_suite *suite) {
    const int count = braid_suite_count(suite);
    const int64_t steps = (int64_t)count * (job->options->count ? job->options->count : 1);
    int code = 0;
    progress_begin(&job->progress, steps < INT_MAX ? (int)steps : INT_MAX, job->options->common.quiet);
    for (int64_t i = 0; i < steps && !code && !interrupted(); i++) {
        braid_problem problem;
        braid_status status = braid_problem_parse(braid_suite_problem(suite, (int)(i % count)), &problem);
        code =
            status ? complain_braid(status) : check_problem(job, &problem, job->options->seed + (uint64_t)(i / count));
    }
    return code;
}

/* The candidates of an op and pass, whatever they can do. */
static int list_candidates(check_job *job, braid_op_id op, braid_pass pass) {
    braid_problem problem;
    braid_op *drawn = NULL;
    char name[64];
    braid_status status = braid_problem_draw(op, pass, job->options->seed, &problem);
    if (!status) status = braid_op_create(job->context, &problem, &drawn);
    if (!status) status = braid_op_plan(drawn, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
    const braid_race *race = braid_op_explain(drawn);
    op_full_name(op, pass, name, sizeof name);
    for (int i = 0; race && i < race->count; i++)
        printf("%s %s %s\n", name, race->candidates[i].kernel, braid_kind_name(race->candidates[i].kind));
    braid_op_destroy(drawn);
    return status && status != BRAID_ERROR_ARGUMENT ? complain_braid(status) : 0;
}

static int list_ops(check_job *job, const char *word) {
    int code = 0;
    for (int op = 0; op < BRAID_OP_COUNT; op++)
        for (int pass = 0; pass < BRAID_PASS_COUNT && !code; pass++)
            if (is_wanted((braid_op_id)op, (braid_pass)pass, word))
                code = list_candidates(job, (braid_op_id)op, (braid_pass)pass);
    return code;
}

/* ---- what is printed ---------------------------------------------------------------------- */

static braid_status make_kernels(const check_job *job, braid_table **table) {
    braid_status status = braid_table_create(kernel_columns, 7, table);
    for (const tally *t = job->tallies; t && !status; t = t->next) {
        const double numbers[] = {t->checked, t->skipped, (double)t->compared, t->worst_err, t->failed};
        status = braid_table_add_text(*table, t->kernel);
        if (!status) status = braid_table_add_text(*table, braid_kind_name(t->kind));
        for (int k = 0; k < 5 && !status; k++)
            status = k == 3 && t->worst_err < 0 ? braid_table_add_text(*table, NULL)
                                                : braid_table_add_number(*table, numbers[k]);
    }
    return status;
}

static braid_status add_problems(const check_job *job, braid_table *table, braid_op_id op, braid_pass pass) {
    char name[64];
    int counts[4], all = 0;
    for (int k = 0; k < 4; k++) all += counts[k] = count_seen(job, op, pass, shown_dtypes[k]);
    if (!all || !op_full_name(op, pass, name, sizeof name)) return BRAID_OK;
    braid_status status = braid_table_add_text(table, name);
    for (int k = 0; k < 4 && !status; k++) status = braid_table_add_number(table, counts[k]);
    return status;
}

/* How many different problems of each op, pass and dtype a kernel was checked on. */
static braid_status make_problems(const check_job *job, braid_table **table) {
    braid_status status = braid_table_create(problem_columns, 5, table);
    for (int op = 0; op < BRAID_OP_COUNT; op++)
        for (int pass = 0; pass < BRAID_PASS_COUNT && !status; pass++)
            status = add_problems(job, *table, (braid_op_id)op, (braid_pass)pass);
    return status;
}

static braid_status fill_report(check_job *job, braid_report *report) {
    braid_table *kernels = NULL, *failures = job->failures;
    int json = job->options->common.format == BRAID_FORMAT_JSON;
    braid_status status = make_kernels(job, &kernels);
    if (status) {
        braid_table_destroy(kernels);
        return status;
    }
    status = braid_report_add_table(report, "kernels", NULL, kernels);
    if (!status && job->drawn) {
        braid_table *problems = NULL;
        status = make_problems(job, &problems);
        if (status)
            braid_table_destroy(problems);
        else
            status = braid_report_add_table(report, "problems", "Distinct problems:", problems);
    }
    if (!status && (job->failed || json)) {
        job->failures = NULL;
        status = braid_report_add_table(report, "failures", "Failures:", failures);
    }
    if (!status) status = braid_report_add_number(report, "passed", NULL, job->passed);
    if (!status) status = braid_report_add_number(report, "failed", NULL, job->failed);
    return status ? status : braid_report_add_number(report, "skipped", NULL, job->skipped);
}

static int print_results(check_job *job) {
    braid_report *report = NULL;
    int format = job->options->common.format;
    braid_status status = braid_report_create(&report);
    drop_repeated(job);
    if (!status) status = fill_report(job, report);
    if (status) {
        braid_report_destroy(report);
        return complain_lab(status);
    }
    int code = output_report(report, (braid_format)format);
    fprintf(format == BRAID_FORMAT_TABLE ? stdout : stderr,
            "\n%zu distinct problems, %.0f s\n%d passed, %d failed, %d skipped\n", job->seen_count,
            clock_s() - job->progress.started_s, job->passed, job->failed, job->skipped);
    return code;
}

/* ---- running ------------------------------------------------------------------------------ */

static int run_job(check_job *job, const asked *what) {
    int code = context_open(&job->options->common, &job->context);
    if (code) return code;
    if (job->options->list) return list_ops(job, what->word);
    braid_status status = braid_table_create(failure_columns, 3, &job->failures);
    if (status) return complain_lab(status);
    if (what->is_problem)
        code = check_typed(job, &what->problem);
    else
        code = what->suite ? check_suite(job, what->suite) : check_ops(job, what->word);
    int printed = print_results(job);
    if (!code) code = printed;
    if (!code && job->failed) code = BRAID_ERROR_CHECK;
    if (!code && interrupted()) code = EXIT_INTERRUPTED;
    if (!code && job->passed == 0)
        code = complain(BRAID_ERROR_CHECK, "nothing was compared: every candidate was skipped");
    return code;
}

/* A word with a colon in it is a problem, and one that is no op the name of a suite, or its path. */
static int read_word(asked *what) {
    braid_status status = BRAID_OK;
    what->is_problem = what->word && strchr(what->word, ':');
    if (what->is_problem) {
        status = braid_problem_parse(what->word, &what->problem);
        return status ? problem_complain(status, what->word) : 0;
    }
    if (count_wanted(what->word) > 0) return 0;
    status = braid_suite_read(what->word, &what->suite);
    if (!status) return 0;
    return strchr(what->word, '/') || strstr(what->word, ".txt") ? complain_lab(status) : unknown_op(what->word);
}

static int check_asked(const check_options *options, const asked *what) {
    check_job job = {.options = options};
    job.last = &job.tallies;
    interrupt_begin();
    int code = run_job(&job, what);
    free_tallies(job.tallies);
    free(job.seen);
    braid_table_destroy(job.failures);
    braid_context_destroy(job.context);
    return code;
}

static int run(const verb *self, int argc, char **argv) {
    check_options options = {.seed = 1, .vendors = -1};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    asked what = {.word = words.count ? words.word[0] : NULL};
    if (what.word && network_is_name(what.word)) {
        interrupt_begin();
        return check_network(what.word, &(network_check){.common = &options.common,
                                                         .network = &options.network,
                                                         .steps = options.steps,
                                                         .runs = options.runs});
    }
    code = read_word(&what);
    if (!code && options.list && (what.is_problem || what.suite))
        code = complain(BRAID_ERROR_ARGUMENT, "--list: expected an op or nothing, got %s", what.word);
    if (!code) code = check_asked(&options, &what);
    braid_suite_destroy(what.suite);
    return code;
}

const verb verb_check = {
    .name = "check",
    .group = "Kernels and speed",
    .arguments = "[OP|PROBLEM|SUITE|NET]",
    .summary = "every candidate against the reference",
    .about =
        "Draws random small problems of every op and pass (or of one op, or takes a typed problem, or those of\n"
        "a suite, which braid bench --list names) and runs every candidate against the plain C reference: small\n"
        "integers bit for bit where the op allows it, real numbers under the stated bound, outputs poisoned\n"
        "before the run, guard zones around every buffer, twice and compared bit for bit. Prints for each kernel how\n"
        "many problems and outputs were compared and the worst error as a share of the tolerance. A failure\n"
        "prints the line that repeats it. Passed, failed and skipped count pairs of problem and kernel. Exit 1\n"
        "on any failure.\n"
        "\n"
        "Of a network it trains some steps launch by launch and then some times over as it is trained in\n"
        "earnest, on a GPU by replays of a recorded graph: with dropout, blanked samples, a learning rate that\n"
        "changes and, in f16, updates that an overflow prevents. All parameters must end with the same bits.",
    .options = check_option_list,
    .examples = "braid check\nbraid check conv2d --count 200 --seed 7\nbraid check bn_stats:f32:n2:b3:hw5x7:c9\n"
                "braid check tiles --device cuda:0\n"
                "braid check linet18 --dtype f16 --device cuda:0\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK,
    .most = 1,
    .run = run,
};
