/*
 * The shared main of the case tests: options, judging, properties, counting.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/threads.h"
#include "race/tolerance.h"
#include "race/verify.h"
#include "tests/support/case_list.h"
#include "tests/support/case_modes.h"

#define DEFAULT_COUNT 2000
#define DEFAULT_SEED 20261115
#define MAX_FAILURES_SHOWN 40
#define MAX_KERNELS 1024
#define MAX_FILLS 8
#define UNEQUAL_SHARE 0.3 /* of the problems have several streams of unequal channels, at least */
#define MASKED_SHARE 0.1
#define EXACT_BYTES (16 << 20) /* what is larger than the caches is judged once, in real numbers */
#define PROPERTY_PROBLEMS 222  /* about so many of the problems are also used for the properties */

typedef struct options {
    const char *mode, *device;
    uint64_t seed;
    int64_t until;
    int count;
    int problems; /* typed */
    char **problem;
} options;

/* What one candidate did in this run. */
typedef struct tally {
    int problems;
    int64_t outputs;
    double worst;
} tally;

/* ---- Counting ------------------------------------------------------------------------------ */

static int shown;

int suite_expect(suite *s, int held, const char *format, ...) {
    s->passed += held != 0;
    s->failed += held == 0;
    if (held || shown++ >= MAX_FAILURES_SHOWN) return held;
    va_list arguments;
    va_start(arguments, format);
    printf("FAIL ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    return held;
}

int suite_is_over(const suite *s) { return s->until > 0 && s->failed >= s->until; }

outcome broken(trial *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->detail, sizeof t->detail, format, arguments);
    va_end(arguments);
    return BROKEN;
}

outcome could_not_run(trial *t) { return broken(t, "could not run: %s", braid_message()); }

const kernel *able_kernel(const braid_problem *p, const device *d, int index) {
    for (int j = 0; j < kernel_count(); j++) {
        if (!kernel_refuses(kernel_at(j), p, d) && index-- == 0) return kernel_at(j);
    }
    return NULL;
}

/* ---- Judging ------------------------------------------------------------------------------- */

/* Fills a problem, with other values where too many of the expected outputs are zero by chance to prove anything. */
static braid_status fill_problem(const suite *s, const braid_problem *p, const char *text, image_mode mode,
                                 verifier *v) {
    for (uint64_t attempt = 0;; attempt++) {
        TRY(verifier_create(p, s->device, mode, case_seed(s->seed + attempt, text), v));
        verify_zeros count = {0};
        for (int64_t j = 0; j < v->sample_count; j++) verify_count_zeros(p, &v->samples[j], &count);
        if (attempt == MAX_FILLS || !verify_mistrusts(&count)) return BRAID_OK;
        verifier_destroy(v);
    }
}

/* Judges every candidate of a problem in one mode. False: one was wrong. */
static int judge(suite *s, const braid_problem *p, const char *text, image_mode mode, tally *tallies) {
    verifier v;
    int right = 1;
    if (fill_problem(s, p, text, mode, &v) != BRAID_OK) {
        printf("FAIL %s: could not be checked: %s\n", text, braid_message());
        return 0;
    }
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        verdict one = {0};
        if (kernel_refuses(k, p, s->device)) continue;
        if (verifier_judge(&v, k, &one) != BRAID_OK) snprintf(one.failure, sizeof one.failure, "%s", braid_message());
        tallies[j].outputs += one.compared;
        if (one.max_err > tallies[j].worst) tallies[j].worst = one.max_err;
        if (mode == IMAGE_REAL) tallies[j].problems++;
        if (!one.failure[0]) continue;
        right = 0;
        if (shown++ >= MAX_FAILURES_SHOWN) continue;
        printf("FAIL %s: %s\n  replay: %s test --seed %llu '%s'\n", k->name, one.failure, s->program,
               (unsigned long long)s->seed, text);
    }
    verifier_destroy(&v);
    return right;
}

static void judge_list(suite *s, const case_list *list, tally *tallies) {
    for (int j = 0; j < list->count && !suite_is_over(s); j++) {
        const braid_problem *p = &list->problems[j];
        threads_set(j % 8 == 0 ? 2 : 1); /* most are too small to be divided */
        int right = judge(s, p, list->texts[j], IMAGE_REAL, tallies);
        if (op_is_exact(p) && case_bytes(p) < EXACT_BYTES) right &= judge(s, p, list->texts[j], IMAGE_EXACT, tallies);
        s->passed += right;
        s->failed += !right;
    }
    threads_set(0);
}

/* One row per candidate; in a full run, one that was never exercised though it runs here is a failure. */
static void print_tallies(suite *s, const tally *tallies, int full) {
    printf("%-44s %9s %12s %12s\n", "candidate", "problems", "outputs", "worst error");
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != s->op) continue;
        const char *absent = cannot_run_here(k, s->device);
        if (tallies[j].problems) {
            printf("%-44s %9d %12lld %12.3f\n", k->name, tallies[j].problems, (long long)tallies[j].outputs,
                   tallies[j].worst);
        } else if (absent) {
            printf("skip: %s: %s\n", k->name, absent);
            s->skipped++;
        } else if (full) {
            suite_expect(s, 0, "%s runs on this machine and did none of the problems", k->name);
        }
    }
}

/* Gradients, known situations and the support matrix run the reference, which is on the CPU alone. */
static int on_cpu(const suite *s) { return s->device->backend == &backend_cpu; }

/* ---- Properties ---------------------------------------------------------------------------- */

static void check_property(suite *s, const property *rule, const braid_problem *p, const char *text, int64_t *count) {
    const kernel *k;
    for (int j = 0; (k = able_kernel(p, s->device, j)) != NULL; j++) {
        trial t = {.problem = p, .kernel = k, .device = s->device, .seed = case_seed(s->seed, text)};
        outcome found = rule->check(&t);
        if (found == NOT_HERE) continue;
        ++*count;
        suite_expect(s, found == HELD, "property \"%s\" of %s: %s\n  replay: %s test --seed %llu '%s'", rule->name,
                     k->name, t.detail, s->program, (unsigned long long)s->seed, text);
    }
}

static void check_properties(suite *s, const property *rules, const case_list *list, int all) {
    for (const property *rule = rules; rule && rule->name && !suite_is_over(s); rule++) {
        int64_t count = 0;
        for (int j = 0; j < list->count && !suite_is_over(s); j += all ? 1 + list->count / PROPERTY_PROBLEMS : 1) {
            check_property(s, rule, &list->problems[j], list->texts[j], &count);
        }
        printf("property %-52s %7lld checks\n", rule->name, (long long)count);
        if (all && on_cpu(s)) suite_expect(s, count > 0, "property \"%s\" was checked on no problem", rule->name);
    }
}

/* ---- Modes --------------------------------------------------------------------------------- */

static void expect_mix(suite *s, const case_list *list, int wanted) {
    int unequal = case_list_unequal(list), masked = case_list_masked(list);
    printf("%d distinct problems (%d written by hand), %d with unequal streams (%d %%), %d masked (%d %%)\n",
           list->count, list->written, unequal, unequal * 100 / list->count, masked, masked * 100 / list->count);
    suite_expect(s, list->count >= wanted, "expected %d distinct problems, got %d", wanted, list->count);
    if (list->count < CASE_LIST_ALL_KINDS) return;
    suite_expect(s, unequal >= UNEQUAL_SHARE * list->count || op_find(s->op)->max_streams == 1,
                 "expected unequal streams in 30 %% of the problems, got %d", unequal);
    if (!(op_find(s->op)->fields & FIELD_BIT(mask))) return; /* an op without masks */
    suite_expect(s, masked >= MASKED_SHARE * list->count, "expected masks in 10 %% of the problems, got %d", masked);
}

/* In double, which the reference kernels alone can do. */
static void check_gradients(suite *s, const op_tests *tests) {
    if (!tests->gradients) return;
    if (strcmp(s->device->backend->name, "cpu") == 0) {
        tests->gradients(s);
    } else {
        printf("skip: gradients: finite differences run on the CPU\n");
        s->skipped++;
    }
}

static void test(suite *s, const op_tests *tests, const case_list *list, const options *o) {
    static tally tallies[MAX_KERNELS];
    int all = o->problems == 0;
    if (all) expect_mix(s, list, o->count);
    if (!suite_expect(s, kernel_count() <= MAX_KERNELS, "expected at most %d kernels", MAX_KERNELS)) return;
    judge_list(s, list, tallies);
    print_tallies(s, tallies, all && o->count >= DEFAULT_COUNT);
    check_properties(s, tests->properties, list, all);
    if (!all || suite_is_over(s) || !on_cpu(s)) return;
    support_matrix(s, list, 0);
    if (tests->scenarios) tests->scenarios(s);
    check_gradients(s, tests);
}

static braid_status run_mode(suite *s, const op_tests *tests, const case_list *list, const options *o) {
    s->whole = strcmp(o->mode, "grad") == 0;
    if (strcmp(o->mode, "test") == 0) test(s, tests, list, o);
    if (strcmp(o->mode, "support") == 0) support_matrix(s, list, 1);
    if (s->whole) check_gradients(s, tests);
    return strcmp(o->mode, "perf") == 0 ? perf_table(s, list) : BRAID_OK;
}

/* The typed problems; else those of the file (in a short run some of them) and, but for perf, random ones. */
static braid_status make_list(case_list *list, const options *o, braid_op_id op) {
    char path[64];
    TRY(case_list_create(list, o->count + o->problems + 4096));
    for (int j = 0; j < o->problems; j++) TRY(case_list_add_line(list, op, o->problem[j]));
    if (o->problems) return BRAID_OK;
    snprintf(path, sizeof path, "tests/cases/%s.txt", braid_op_id_name(op));
    TRY(case_list_read(list, op, path));
    if (strcmp(o->mode, "perf") != 0) case_list_thin(list, o->count / 3);
    return strcmp(o->mode, "perf") == 0 ? BRAID_OK : case_list_draw(list, op, o->seed, o->count);
}

static braid_status run(suite *s, const op_tests *tests, const options *o) {
    case_list list = {0};
    TRY(backend_open(o->device, &s->device));
    braid_status status = make_list(&list, o, tests->op);
    if (status == BRAID_OK) status = run_mode(s, tests, &list, o);
    case_list_destroy(&list);
    s->device->backend->close(s->device);
    return status;
}

/* ---- Options ------------------------------------------------------------------------------- */

static int usage(const char *program) {
    fprintf(
        stderr,
        "usage: %s [test|grad|perf|support] [--seed S] [--count N] [--until F] [--device cpu|cuda:0] [PROBLEM...]\n",
        program);
    return 2;
}

/* Fills in the options; false: not understood. */
static int read_options(int argc, char **argv, options *o) {
    static const char *const modes[] = {"test", "grad", "perf", "support"};
    int at = 1;
    for (size_t m = 0; at < argc && m < sizeof modes / sizeof modes[0]; m++) {
        if (strcmp(argv[at], modes[m]) == 0) {
            o->mode = modes[m];
            at++;
            break;
        }
    }
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        char *end = argv[at + 1];
        if (strcmp(argv[at], "--seed") == 0)
            o->seed = strtoull(argv[at + 1], &end, 10);
        else if (strcmp(argv[at], "--count") == 0)
            o->count = (int)strtol(argv[at + 1], &end, 10);
        else if (strcmp(argv[at], "--until") == 0)
            o->until = strtoll(argv[at + 1], &end, 10);
        else if (strcmp(argv[at], "--device") == 0)
            o->device = argv[at + 1];
        else
            return 0;
        if (strcmp(argv[at], "--device") != 0 && (*end || end == argv[at + 1])) return 0;
    }
    o->problem = argv + at;
    o->problems = argc - at;
    return o->count > 0 && (at == argc || argv[at][0] != '-');
}

/* Thousands of tiny parallel regions: threads that spin while they wait would take four fifths of the time, and
 * OpenMP reads its environment before main. So the program starts itself again, once. */
static void wait_without_spinning(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
    execv("/proc/self/exe", argv);
}

/* $BRAID_TEST_COUNT asks for fewer problems where each is slow, as under a sanitizer. */
static int default_count(void) {
    const char *wanted = getenv("BRAID_TEST_COUNT");
    long count = wanted ? strtol(wanted, NULL, 10) : 0;
    return count > 0 && count < DEFAULT_COUNT ? (int)count : DEFAULT_COUNT;
}

int cases_main(int argc, char **argv, const op_tests *tests) {
    options o = {.mode = "test", .device = "cpu", .seed = DEFAULT_SEED, .count = default_count()};
    suite s = {.op = tests->op, .program = argv[0]};
    wait_without_spinning(argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_options(argc, argv, &o)) return usage(argv[0]);
    s.seed = o.seed;
    s.until = o.until;
    printf("%s %s --seed %llu --count %d --device %s\n", braid_op_id_name(tests->op), o.mode,
           (unsigned long long)o.seed, o.count, o.device);
    if (run(&s, tests, &o) != BRAID_OK) suite_expect(&s, 0, "%s", braid_message());
    suite_expect(&s, memory_live() == 0, "expected no memory left behind, got %lld pieces", (long long)memory_live());
    printf("%lld passed, %lld failed, %lld skipped\n", (long long)s.passed, (long long)s.failed, (long long)s.skipped);
    return s.failed > 0;
}
