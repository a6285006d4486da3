/*
 * Every CUDA kernel of kernels.def against the double reference, on the emulator:
 *
 *     emu kernels [--kernel NAME] [--cases N] [--seed S] [--part K/N] [--launches FILE] [--fault FILE]
 *
 * Problems are drawn at random (odd sizes, masks, unequal channels, all dtypes), and each failure prints the
 * problem and its seed for replay. A kernel of which nothing was compared in a dtype that its line names has failed.
 * --part 1/2 takes every other kernel, 2/2 those between. --launches writes how often each function ran, for
 * tests/emu/launched. --fault plants a fault (faults.cmake) and turns the verdict around: exit 0 only if a case failed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "braid_lab.h"
#include "core/rng.h"
#include "core/threads.h"
#include "kernels/kernel.h"
#include "race/verify.h"
#include "tests/emu/chosen.h"
#include "tests/emu/emu.h"
#include "tests/emu/entries.h"
#include "tests/emu/large_mean.h"
#include "tests/emu/tests.h"
#include "tests/emu/unrounded.h"

#define DRAWS_FOR_ALL 200 /* tools/test_cuda draws as many for the sanitizer */

typedef struct options {
    const char *kernel; /* NULL: all */
    long cases;
    unsigned long long seed;
    int part, parts;
    const char *launches; /* NULL: nobody asks */
    const char *fault;    /* a module; NULL: none is planted */
} options;

typedef struct tally {
    long passed, failed, skipped;
    long compared[BRAID_DTYPE_COUNT]; /* problems of one kernel that passed */
} tally;

static int has_fault;

static void say(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* An address out of range in a kernel: device memory lies between forbidden pages. */
static void report_crash(int signal_number) {
    const char *where = emu_where();
    int caught = has_fault && where;
    (void)signal_number;
    say("address out of range in ");
    say(where ? where : "no kernel");
    say(caught ? "\n1 passed, 0 failed, 0 skipped\n" : "\n0 passed, 1 failed, 0 skipped\n");
    _exit(caught ? 0 : 1);
}

static void catch_crashes(void) {
    static char stack[65536];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = report_crash;
    action.sa_flags = SA_ONSTACK;
    (void)sigaltstack(&alternative, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
}

static void describe_failure(const kernel *k, const braid_problem *p, unsigned long long seed, const char *failure) {
    char text[BRAID_PROBLEM_TEXT];
    if (braid_problem_print(p, text, sizeof text) != BRAID_OK) text[0] = '\0';
    printf("FAILED %s seed %llu %s: %s\n", k->name, seed, text, failure);
}

/* One problem. False where checking itself is impossible. */
static int run_problem(const kernel *k, device *d, const braid_problem *p, unsigned long long seed, tally *t) {
    verdict v;
    const char *reason = kernel_refuses(k, p, d);
    if (reason) {
        printf("skip: %s: %s\n", k->name, reason);
        t->skipped++;
        return 1;
    }
    if (verify_kernels(p, d, &k, 1, seed, &v) != BRAID_OK) return 0;
    if (v.failure[0]) describe_failure(k, p, seed, v.failure);
    t->failed += v.failure[0] != '\0';
    t->passed += v.failure[0] == '\0';
    t->compared[p->dtype] += v.failure[0] == '\0';
    return 1;
}

/* Weight gradients of sm_90a take odd channels, but no bias, and some only the filter that networks use most. */
static void suit_weight_gradient(const kernel *k, const device *d, braid_problem *p) {
    p->groups = 1;
    p->padding_mode = BRAID_PADDING_ZEROS;
    p->bias = 0;
    for (int i = 0; i < p->streams; i++) {
        p->in_pitch[i] = (p->in_pitch[i] + 7) / 8 * 8;
        p->out_pitch[i] = (p->out_pitch[i] + 7) / 8 * 8;
    }
    for (int axis = 0; axis < 2 && kernel_refuses(k, p, d); axis++) {
        p->filter[axis] = 3;
        p->stride[axis] = p->dilation[axis] = p->padding[axis] = 1;
        p->extra_padding[axis] = 0;
    }
}

static int run_drawn(const kernel *k, device *d, unsigned long long seed, tally *t) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    braid_problem p;
    if (k->op == BRAID_OP_CONV2D_BN_STATS || k->op == BRAID_OP_CONV2D_DGRAD_BN_REDUCE ||
        k->op == BRAID_OP_BN_ACT_CONV2D) /* the convolutions of networks alone */
        return braid_problem_draw_round(k->op, k->pass, seed, &p) == BRAID_OK && run_problem(k, d, &p, seed, t);
    if (braid_problem_draw(k->op, k->pass, seed, &p) != BRAID_OK) return 0;
    p.dtype = dtypes[seed % 3];
    if (k->flags & KERNEL_TF32) {
        p.dtype = BRAID_DTYPE_F32;
        p.tf32 = 1;
        problem_round(&p);
    }
    if (k->features & FEATURE_SM90A && (k->op == BRAID_OP_CONV2D || k->op == BRAID_OP_CONV2D_SCALE_BIAS_ACT)) {
        p.dtype = dtypes[1 + seed % 2];
        if (k->pass == BRAID_PASS_BWD_WEIGHT)
            suit_weight_gradient(k, d, &p);
        else
            problem_round(&p);
    }
    if (k->features & FEATURE_SM90A && (k->op == BRAID_OP_LINEAR || k->op == BRAID_OP_LINEAR_ACT)) {
        p.dtype = dtypes[1 + seed % 2];
        problem_round(&p);
        if (k->pass == BRAID_PASS_BWD_WEIGHT) p.mask = 0;
    }
    return braid_problem_check(&p) == BRAID_OK && run_problem(k, d, &p, seed, t);
}

#define MANY_FLOPS 8e7

/* Large problems are there for kernels that choose among tiles. Those that take all sizes in the same way would need
 * the most time for them. */
static int is_for(const kernel *k, const braid_problem *p) {
    const int is_general = strstr(k->name, "_direct") || strstr(k->name, "_mma");
    return p->op == k->op && p->pass == k->pass && (!is_general || op_of(p)->flops(p) <= MANY_FLOPS);
}

static int run_chosen(const kernel *k, device *d, const options *o, tally *t) {
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0] && !(o->fault && t->failed); i++) {
        braid_problem p;
        if (braid_problem_parse(chosen[i], &p) != BRAID_OK) return 0;
        if (is_for(k, &p) && !run_problem(k, d, &p, i, t)) return 0;
    }
    return 1;
}

/* The general tensor-core convolutions choose a tile out of many by the problem; here every one of them is chosen. */
static int run_tiles(const kernel *k, device *d, const options *o, tally *t) {
    braid_suite *tiles = NULL;
    int checked = braid_suite_read("bench/suites/tiles.txt", &tiles) == BRAID_OK;
    for (int i = 0; checked && i < braid_suite_count(tiles) && !(o->fault && t->failed); i++) {
        braid_problem p;
        checked = braid_problem_parse(braid_suite_problem(tiles, i), &p) == BRAID_OK;
        if (checked && p.op == k->op && p.pass == k->pass) checked = run_problem(k, d, &p, (unsigned long long)i, t);
    }
    braid_suite_destroy(tiles);
    return checked;
}

/* Sums of columns whose parts a second launch adds, for want of counters. */
static int run_without_counters(const kernel *k, device *d, tally *t) {
    static const char *const problems[] = {
        "bn_stats:f16:n2:b3:hw40x41:c64,40:mask1", "bn_bwd_reduce:f32:n2:b2:hw60x50:c9,13:mask1",
        "bias_bwd_weight:f32:n2:b2:hw60x50:c9,13:mask1", "bias_bwd_weight:f16:n2:b3:hw40x41:c64,40:mask1",
        "bias_bwd_weight:bf16:n1:b3:hw40x41:c17:cp24"};
    int checked = 1;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0] && checked; j++) {
        braid_problem p;
        if (braid_problem_parse(problems[j], &p) != BRAID_OK) return 0;
        if (p.op != k->op || p.pass != k->pass) continue;
        emu_refuse_counters(1);
        checked = run_problem(k, d, &p, j, t);
        emu_refuse_counters(0);
    }
    return checked;
}

/* True where a channel's mean and variance are those of its values: to a few roundings, and to 1e-5. */
static int statistics_hold(const float *x, int64_t pixels, int64_t channels, int64_t c, float mean, float var) {
    double exact_mean = 0, exact_var = 0;
    for (int64_t i = 0; i < pixels; i++) exact_mean += (double)x[i * channels + c] / (double)pixels;
    for (int64_t i = 0; i < pixels; i++) {
        double distance = (double)x[i * channels + c] - exact_mean;
        exact_var += distance * distance / (double)pixels;
    }
    return fabs((double)mean - exact_mean) < 2e-7 * fabs(exact_mean) &&
           fabs((double)var - exact_var) < 1e-5 * exact_var;
}

/* bn_stats with a mean a thousand times the deviation: a sum of squares would lose the variance. */
static int run_large_mean(const kernel *k, device *d, tally *t) {
    enum { CHANNELS = 5, PIXELS = 4 * 33 * 31 };
    static float x[PIXELS * CHANNELS], mean[CHANNELS], var[CHANNELS];
    braid_problem p;
    buffers b = {0};
    void *state = NULL;
    size_t workspace_bytes = 0;
    rng r = {.seed = 1};
    for (int i = 0; i < PIXELS * CHANNELS; i++) x[i] = (float)(1000 + rng_normal(&r));
    braid_status status = braid_problem_parse("bn_stats:f32:n1:b4:hw33x31:c5", &p);
    if (!status) status = k->functions->create(&p, d, &state, &workspace_bytes);
    if (!status) status = d->backend->alloc(d, sizeof x, &b.plane[BN_STATS_X][0]);
    if (!status) status = d->backend->alloc(d, sizeof mean, &b.plane[BN_STATS_MEAN][0]);
    if (!status) status = d->backend->alloc(d, sizeof var, &b.plane[BN_STATS_VAR][0]);
    if (!status) status = d->backend->alloc(d, workspace_bytes, &b.workspace);
    if (!status) status = d->backend->upload(d, b.plane[BN_STATS_X][0], x, sizeof x);
    if (!status) status = kernel_launch(k->functions, &p, d, state, &b);
    if (!status) status = d->backend->download(d, mean, b.plane[BN_STATS_MEAN][0], sizeof mean);
    if (!status) status = d->backend->download(d, var, b.plane[BN_STATS_VAR][0], sizeof var);
    for (int slot = BN_STATS_X; slot <= BN_STATS_VAR; slot++) d->backend->free(d, b.plane[slot][0]);
    d->backend->free(d, b.workspace);
    for (int c = 0; c < CHANNELS && !status; c++) {
        int held = statistics_hold(x, PIXELS, CHANNELS, c, mean[c], var[c]);
        if (!held)
            printf("FAILED %s with a large mean: got mean %.9g, var %.9g\n", k->name, (double)mean[c], (double)var[c]);
        t->passed += held;
        t->failed += !held;
    }
    return status == BRAID_OK;
}

/* act with addresses that no vector access may use, though the pitch allows one. */
static int run_odd_addresses(const kernel *k, device *d, tally *t) {
    enum { COUNT = 3 * 5 * 8 };
    float x[COUNT + 1], y[COUNT + 1];
    braid_problem p;
    buffers b = {0};
    void *memory = NULL;
    int right = 1;
    for (int i = 0; i <= COUNT; i++) x[i] = (float)(i % 7 - 3);
    braid_status status = braid_problem_parse("act_fwd:f32:n1:b1:hw3x5:c8:act=relu", &p);
    if (!status) status = d->backend->alloc(d, 2 * sizeof x, &memory);
    if (!status) status = d->backend->upload(d, memory, x, sizeof x);
    b.plane[ACT_X][0] = (float *)memory + 1;
    b.plane[ACT_Y][0] = (float *)memory + COUNT + 1;
    if (!status) status = kernel_launch(k->functions, &p, d, NULL, &b);
    if (!status) status = d->backend->download(d, y, b.plane[ACT_Y][0], COUNT * sizeof(float));
    for (int i = 0; i < COUNT && !status; i++) right = right && y[i] == (x[i + 1] < 0 ? 0 : x[i + 1]);
    if (memory) d->backend->free(d, memory);
    if (!right) printf("FAILED %s at odd addresses\n", k->name);
    t->passed += right;
    t->failed += !right;
    return status == BRAID_OK;
}

/* Operands of products that are not numbers of TF32 give what they give once rounded, bit for bit. */
static int run_unrounded(const kernel *k, device *d, tally *t) {
    static const char *const products[] = {"conv2d_fwd:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "conv2d_bwd_data:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "conv2d_bwd_weight:tf32:b2:hw5x6:c12:k20:rs3x3:pad1",
                                           "linear_fwd:tf32:b9:c28:k12",
                                           "linear_bwd_data:tf32:b9:c28:k12",
                                           "linear_bwd_weight:tf32:b9:c28:k12"};
    for (size_t j = 0; j < sizeof products / sizeof products[0]; j++) {
        braid_problem p;
        char failure[128] = "";
        if (braid_problem_parse(products[j], &p) != BRAID_OK) return 0;
        if (kernel_refuses(k, &p, d)) continue;
        if (unrounded_differs(k, d, &p, failure, sizeof failure) != BRAID_OK) return 0;
        if (failure[0]) describe_failure(k, &p, 0, failure);
        t->failed += failure[0] != '\0';
        t->passed += failure[0] == '\0';
    }
    return 1;
}

/* What is made has a mean a thousand times its deviation, whose digits the statistics keep, or no deviation. */
static int run_prepared_large_mean(const kernel *k, device *d, tally *t) {
    static const char *const problems[] = {
        "conv2d_bn_stats:f16:b2:hw37x72:c1:k9:rs5x5:pad2:kp16",  "conv2d_bn_stats:f16:b2:hw41x145:c16:k24:rs3x3:pad1",
        "conv2d_bn_stats:bf16:b2:hw20x64:c3:k16:rs3x3",          "conv2d_bn_stats:bf16:b2:hw20x145:c16:k24:rs3x3",
        "conv2d_bn_stats:f16:b4:hw5x7:c16:k24:rs3x3:pad1:mask1", "integrate_bn_stats:f16:b2:hw97x101:c8:zo72",
        "integrate_bn_stats:bf16:b2:hw37x41:c24:zo40",           "integrate_bn_stats:f16:b2:hw79x83:c8:zo112",
        "integrate_bn_stats:bf16:b2:hw17x41:c24:zo128"};
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        braid_problem p;
        char failure[128] = "";
        if (braid_problem_parse(problems[j], &p) != BRAID_OK) return 0;
        if (p.op != k->op || kernel_refuses(k, &p, d)) continue;
        if (large_mean_loses(k, d, &p, failure, sizeof failure) != BRAID_OK) return 0;
        if (failure[0]) describe_failure(k, &p, 0, failure);
        t->failed += failure[0] != '\0';
        t->passed += failure[0] == '\0';
    }
    return 1;
}

/* A kernel that refuses every problem, or every one of a dtype, was not compared with anything. */
static void expect_every_dtype(const kernel *k, tally *t) {
    for (int dtype = 0; dtype < BRAID_DTYPE_COUNT; dtype++) {
        if (!(k->dtypes & (1u << dtype)) || t->compared[dtype]) continue;
        printf("FAILED %s: nothing in %s was compared\n", k->name, braid_dtype_name((braid_dtype)dtype));
        t->failed++;
    }
}

/* Stops at the first failure of a mutant. */
static void run_kernel(const kernel *k, device *d, const options *o, tally *t) {
    memset(t->compared, 0, sizeof t->compared);
    int checked = run_chosen(k, d, o, t) && (k->op != BRAID_OP_BN_STATS || run_large_mean(k, d, t));
    if (k->op == BRAID_OP_ACT && k->pass == BRAID_PASS_FWD) checked = checked && run_odd_addresses(k, d, t);
    if (k->flags & KERNEL_TF32) checked = checked && run_unrounded(k, d, t);
    checked = checked && run_prepared_large_mean(k, d, t) && run_without_counters(k, d, t);
    if (strstr(k->name, "_implicit_")) checked = checked && run_tiles(k, d, o, t);
    for (long i = 0; i < o->cases && checked && !(o->fault && t->failed); i++) {
        checked = run_drawn(k, d, o->seed + (unsigned long long)i, t);
    }
    if (!o->fault) expect_every_dtype(k, t);
    if (checked) return;
    printf("FAILED %s: %s\n", k->name, braid_message());
    t->failed++;
}

/* `braid check` draws a problem for every kernel. */
static void expect_drawn(const device *d, tally *t) {
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        int found = 0;
        for (uint64_t seed = 1; k->backend == KERNEL_CUDA && !k->vendor && !found && seed <= DRAWS_FOR_ALL; seed++) {
            braid_problem p;
            if ((seed % 2 ? braid_problem_draw : braid_problem_draw_round)(k->op, k->pass, seed, &p) == BRAID_OK)
                found = !kernel_refuses(k, &p, d);
        }
        if (k->backend != KERNEL_CUDA || k->vendor) continue;
        if (!found) printf("FAILED %s: %d draws and no problem for it\n", k->name, DRAWS_FOR_ALL);
        t->passed += found;
        t->failed += !found;
    }
}

static int read_options(int count, char **words, options *o) {
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (!value) return 0;
        if (strcmp(words[i], "--kernel") == 0)
            o->kernel = value;
        else if (strcmp(words[i], "--cases") == 0)
            o->cases = strtol(value, NULL, 10);
        else if (strcmp(words[i], "--seed") == 0)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--launches") == 0)
            o->launches = value;
        else if (strcmp(words[i], "--fault") == 0)
            o->fault = value;
        else if (strcmp(words[i], "--part") != 0 || sscanf(value, "%d/%d", &o->part, &o->parts) != 2)
            return 0;
        i++;
    }
    return o->cases > 0 && o->part >= 1 && o->part <= o->parts;
}

static int is_wanted(const kernel *k, const options *o, int index) {
    if (k->backend != KERNEL_CUDA || k->vendor) return 0;
    return o->kernel ? strcmp(o->kernel, k->name) == 0 : index % o->parts == o->part - 1;
}

int emu_kernels(int count, char **words) {
    options o = {.cases = 300, .part = 1, .parts = 1};
    tally t = {0};
    device *d = NULL;
    int kernels = 0, seen = 0;
    if (!read_options(count, words, &o)) {
        fprintf(stderr, "usage: emu kernels [--kernel NAME] [--cases N] [--seed S] [--part K/N] [--launches FILE] "
                        "[--fault FILE]\n");
        return 2;
    }
    has_fault = o.fault != NULL;
    const char *problem = has_fault ? emu_load_fault(o.fault) : NULL;
    if (problem) {
        printf("FAILED: %s: %s\n", o.fault, problem);
        return 2;
    }
    catch_crashes();
    threads_set(1); /* the problems are small: starting threads for their reference costs more than it gives */
    if (backend_cuda.open(0, &d) != BRAID_OK) return 2;
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        if (!is_wanted(k, &o, k->backend == KERNEL_CUDA && !k->vendor ? seen++ : 0)) continue;
        run_kernel(k, d, &o, &t);
        kernels++;
    }
    if (!o.kernel && o.part == 1) expect_drawn(d, &t);
    if (kernels == 0) {
        printf("FAILED: there is no such kernel\n");
        t.failed++;
    }
    backend_cuda.close(d);
    if (o.launches && !emu_write_launches(o.launches)) {
        printf("FAILED: cannot write %s\n", o.launches);
        t.failed++;
    }
    if (o.fault) {
        printf(t.failed && kernels ? "caught\n1 passed, 0 failed, 0 skipped\n"
                                   : "not caught\n0 passed, 1 failed, 0 skipped\n");
        return t.failed && kernels ? 0 : 1;
    }
    printf("%ld passed, %ld failed, %ld skipped\n", t.passed, t.failed, t.skipped);
    return t.failed ? 1 : 0;
}
