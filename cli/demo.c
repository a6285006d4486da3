/*
 * braid demo: a tour in under a minute on two cores. Checks some layers of LINet against the
 * reference, races them, and explains one choice. Writes nothing but the remembered choices.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "cli.h"

typedef struct demo_options {
    common_options common;
    uint64_t seed;
    double seconds;
} demo_options;

#define OFFSET(member) offsetof(demo_options, member)
static const option demo_option_list[] = {
    {"seconds", 0, OPTION_REAL, "S", "time budget of each race (default: 1)", OFFSET(seconds)},
    {"seed", 0, OPTION_SEED, "S", "where the random values of the checks start (default: 1)", OFFSET(seed)},
    {0}};

typedef struct layer {
    const char *name, *problem;
} layer;

/* The last stage of LINet-18 has the smallest maps: quick to check in full. */
static const layer checked_layers[] = {
    {"stem, a corner of it", "conv2d_fwd:f32:n3:b2:hw22x30:c3,1,1:k64:rs7x7:st2:pad3"},
    {"stage 4, forward", "conv2d_fwd:f32:n3:b1:hw13x17:c128:k128:rs3x3:pad1"},
    {"stage 4, data gradient", "conv2d_bwd_data:f32:n3:b1:hw13x17:c128:k128:rs3x3:pad1"},
    {"stage 4, weight gradient", "conv2d_bwd_weight:f32:n3:b1:hw13x17:c128:k128:rs3x3:pad1"},
    {"batch norm, 3 streams + mix", "bn_stats:f32:n4:b2:hw13x17:c512"},
    {"classifier", "linear_fwd:f32:b2:c512:k15:bias1"},
};

/* Real shapes: three streams, batch 2, 416x544 images. */
static const layer raced_layers[] = {
    {"stem 7x7", "conv2d_fwd:f32:n3:b2:hw416x544:c3,1,1:k64:rs7x7:st2:pad3"},
    {"stage 1 3x3", "conv2d_fwd:f32:n3:b2:hw104x136:c64:k64:rs3x3:pad1"},
    {"stage 3 3x3", "conv2d_fwd:f32:n3:b2:hw26x34:c256:k256:rs3x3:pad1"},
    {"stage 3 data gradient", "conv2d_bwd_data:f32:n3:b2:hw26x34:c256:k256:rs3x3:pad1"},
    {"stage 3 weight gradient", "conv2d_bwd_weight:f32:n3:b2:hw26x34:c256:k256:rs3x3:pad1"},
    {"stage 1 batch norm", "bn_apply:f32:n4:b2:hw104x136:c64"},
};
#define CHECKED ((int)(sizeof checked_layers / sizeof checked_layers[0]))
#define RACED ((int)(sizeof raced_layers / sizeof raced_layers[0]))

static const char *bold = "", *plain = "", *green = "", *red = "";

static void set_colours(void) {
    if (!output_options(BRAID_FORMAT_TABLE).colour) return;
    bold = "\033[1m";
    plain = "\033[0m";
    green = "\033[32m";
    red = "\033[31m";
}

static void print_title(int number, const char *title) {
    printf("\n%s%d. %s%s\n", bold, number, title, plain);
    fflush(stdout);
}

/* ---- 1: the machine ----------------------------------------------------------------------- */

static void print_machine_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    (void)user, (void)section, (void)hint;
    printf("   %-18s %s\n", name, value);
}

static int show_machine(const demo_options *options, braid_context *context) {
    braid_ceilings c;
    progress p;
    print_title(1, "This machine");
    braid_status status = braid_context_describe(context, print_machine_row, NULL);
    if (status) return complain_braid(status);
    progress_begin(&p, 1, options->common.quiet);
    progress_step(&p, 0, "measuring how fast this machine can be");
    status = braid_context_ceilings(context, BRAID_DTYPE_F32, &c);
    progress_clear(&p);
    if (status) return complain_braid(status);
    printf("   %-18s copies %.1f GB/s, multiplies matrices at %.1f GFLOP/s (f32)\n", "at best",
           1e-9 * c.copy_bytes_per_s, 1e-9 * c.gemm_flops_per_s);
    return 0;
}

/* ---- 2: right ----------------------------------------------------------------------------- */

typedef struct check_counts {
    int kernels, failed;
    int64_t compared;
    double worst;
} check_counts;

static check_counts count_race(const braid_race *race) {
    check_counts n = {0};
    for (int i = 0; i < race->count; i++) {
        const braid_candidate *c = &race->candidates[i];
        if (c->compared == 0 && c->max_err < 0) continue;
        n.kernels++;
        n.compared += c->compared;
        n.failed += c->reason != NULL || c->max_err > 1;
        if (c->max_err > n.worst) n.worst = c->max_err;
    }
    return n;
}

static int check_layer(const layer *l, braid_context *context, uint64_t seed, int *failures) {
    braid_problem problem;
    braid_op *op = NULL;
    braid_status status = braid_problem_parse(l->problem, &problem);
    if (!status) status = braid_op_create(context, &problem, &op);
    if (!status) status = braid_op_check(op, seed);
    if (status && status != BRAID_ERROR_CHECK) {
        braid_op_destroy(op);
        return complain_braid(status);
    }
    check_counts n = count_race(braid_op_explain(op));
    int failed = n.failed || status != BRAID_OK;
    *failures += failed;
    printf("   %-28s %2d kernel%s, %8lld outputs, worst error %3.0f%% of the tolerance   %s%s%s\n", l->name, n.kernels,
           n.kernels == 1 ? " " : "s", (long long)n.compared, 100 * n.worst, failed ? red : green,
           failed ? "WRONG" : "right", plain);
    fflush(stdout);
    braid_op_destroy(op);
    return 0;
}

static int show_checks(const demo_options *options, braid_context *context, int *failures) {
    print_title(2, "Are the kernels right? Each one against a plain C reference");
    for (int i = 0; i < CHECKED && !interrupted(); i++) {
        int code = check_layer(&checked_layers[i], context, options->seed, failures);
        if (code) return code;
    }
    return 0;
}

/* ---- 3: fast ------------------------------------------------------------------------------ */

/* A bar of the share of the machine's best speed. */
static void print_bar(double share) {
    int length = isnan(share) ? 0 : (int)(20 * fmin(share, 1) + 0.5);
    for (int i = 0; i < 20; i++) putchar(i < length ? '#' : '.');
}

static void print_race(const layer *l, const braid_bench_result *r) {
    if (r->chosen < 0) {
        printf("   %-24s no candidate\n", l->name);
        return;
    }
    const braid_bench_row *chosen = &r->rows[r->chosen];
    printf("   %-24s %8.3f ms  ", l->name, 1e3 * chosen->median_s);
    print_bar(chosen->roofline);
    if (isnan(chosen->roofline))
        printf("       %s", chosen->kernel);
    else
        printf(" %3.0f%%  %s", 100 * chosen->roofline, chosen->kernel);
    if (r->baseline >= 0 && r->baseline != r->chosen)
        printf("  %s%.2fx %s%s", chosen->verdict == BRAID_VERDICT_FAST ? green : "", chosen->ratio, r->baseline_name,
               plain);
    putchar('\n');
    fflush(stdout);
}

static int show_races(const demo_options *options, braid_bench *bench) {
    progress p;
    print_title(3, "Which kernel is fastest here? The bar is the share of this machine's best speed");
    progress_begin(&p, RACED, options->common.quiet);
    for (int i = 0; i < RACED && !interrupted(); i++) {
        progress_step(&p, i, raced_layers[i].name);
        braid_status status = braid_bench_run(bench, raced_layers[i].problem);
        progress_clear(&p);
        if (status) return complain_lab(status);
        print_race(&raced_layers[i], braid_bench_result_at(bench, i));
    }
    return 0;
}

/* ---- 4: why ------------------------------------------------------------------------------- */

static void show_why(const layer *l, const braid_bench_result *r) {
    print_title(4, "Why that one?");
    printf("   %s: %.3g GFLOP on at least %.3g MB.\n", l->name, 1e-9 * r->flops, 1e-6 * r->bytes);
    for (int i = 0; i < r->count; i++) {
        const braid_bench_row *row = &r->rows[i];
        if (isnan(row->median_s))
            printf("   %-34s took no part: %s\n", row->kernel, row->reason ? row->reason : "not timed");
        else
            printf("   %-34s %8.3f ms (%.3f to %.3f)%s\n", row->kernel, 1e3 * row->median_s, 1e3 * row->low_s,
                   1e3 * row->high_s, row->chosen ? "  <- chosen" : "");
    }
    if (*r->why) printf("   %s\n", r->why);
}

static void show_next(const layer *l) {
    printf("\n%sTry next%s\n", bold, plain);
    puts("   braid doctor                  what is missing here, and how to get it");
    puts("   braid check                   hundreds of random problems against the reference");
    puts("   braid bench linet3 --gate     every layer of LINet, every pass (some minutes)");
    printf("   braid explain %s\n", l->problem);
}

/* ---- the tour ----------------------------------------------------------------------------- */

static int tour(const demo_options *options, braid_context *context, braid_bench *bench) {
    double started_s = clock_s();
    int failures = 0;
    set_colours();
    printf("%sbraid %s: the layers of LINet, a network with three input streams%s\n", bold, braid_version(), plain);
    int code = show_machine(options, context);
    if (!code && !interrupted()) code = show_checks(options, context, &failures);
    if (!code && !interrupted()) code = show_races(options, bench);
    if (code) return code;
    if (interrupted()) return EXIT_INTERRUPTED;
    show_why(&raced_layers[1], braid_bench_result_at(bench, 1));
    show_next(&raced_layers[1]);
    printf("\n%.0f seconds, %d checks, %d races%s\n", clock_s() - started_s, CHECKED, RACED,
           failures ? ": some kernels are WRONG, see above" : "");
    return failures ? BRAID_ERROR_CHECK : 0;
}

static int run(const verb *self, int argc, char **argv) {
    demo_options options = {.seed = 1, .seconds = 1};
    arguments words;
    braid_context *context = NULL;
    braid_bench *bench = NULL;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    interrupt_begin();
    code = context_open(&options.common, &context);
    if (code) return code;
    braid_status status = braid_bench_create(context, &(braid_bench_options){.seconds = options.seconds}, &bench);
    code = status ? complain_lab(status) : tour(&options, context, bench);
    braid_bench_destroy(bench);
    braid_context_destroy(context);
    return code;
}

const verb verb_demo = {
    .name = "demo",
    .arguments = "",
    .summary = "a tour in under a minute: checks, races and explains LINet's layers",
    .about = "Shows this machine, checks some layers of LINet against the reference, races them with a small time\n"
             "budget, and explains one choice in words. Writes nothing but the remembered choices.",
    .options = demo_option_list,
    .examples = "braid demo\nbraid demo --device cpu --threads 1\n",
    .common = COMMON_CONTEXT | COMMON_TALK,
    .run = run,
};
