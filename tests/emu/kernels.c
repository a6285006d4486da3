/*
 * Every CUDA kernel of kernels.def against the double reference, on the emulator:
 *
 *     kernels [--kernel NAME] [--cases N] [--seed S] [--caught]
 *
 * Problems are drawn at random (odd sizes, masks, unequal channels, all dtypes), and each failure prints the
 * problem and its seed for replay. --caught turns the verdict around, for mutated kernels: exit 0 only if a
 * case failed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/threads.h"
#include "kernels/kernel.h"
#include "plan/verify.h"
#include "tests/emu/emu.h"

typedef struct options {
    const char *kernel; /* NULL: all */
    long cases;
    unsigned long long seed;
    int caught;
} options;

typedef struct tally {
    long passed, failed, skipped;
} tally;

static int crash_is_caught;

static void say(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* An address out of range in a kernel: device memory lies between forbidden pages. */
static void report_crash(int signal_number) {
    const char *where = emu_where();
    (void)signal_number;
    say("address out of range in ");
    say(where ? where : "no kernel");
    say("\n");
    _exit(crash_is_caught && where ? 0 : 1);
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

/* One drawn problem. False where checking itself is impossible. */
static int run_case(const kernel *k, device *d, unsigned long long seed, tally *t) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16};
    braid_problem p;
    verdict v;
    if (braid_problem_draw(k->op, k->pass, seed, &p) != BRAID_OK) return 0;
    p.dtype = dtypes[seed % 3];
    if (braid_problem_check(&p) != BRAID_OK) return 0;
    const char *reason = kernel_refuses(k, &p, d);
    if (reason) {
        printf("skip: %s: %s\n", k->name, reason);
        t->skipped++;
        return 1;
    }
    if (verify_kernels(&p, d, &k, 1, seed, &v) != BRAID_OK) return 0;
    if (v.failure[0]) describe_failure(k, &p, seed, v.failure);
    t->failed += v.failure[0] != '\0';
    t->passed += v.failure[0] == '\0';
    return 1;
}

/* True where the kernel was checked; stops at the first failure of a mutant. */
static int run_kernel(const kernel *k, device *d, const options *o, tally *t) {
    for (long i = 0; i < o->cases; i++) {
        if (!run_case(k, d, o->seed + (unsigned long long)i, t)) {
            printf("FAILED %s: %s\n", k->name, braid_message());
            t->failed++;
            return 1;
        }
        if (o->caught && t->failed) return 1;
    }
    return 1;
}

static int read_options(int count, char **words, options *o) {
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--caught") == 0) {
            o->caught = 1;
            continue;
        }
        if (!value) return 0;
        if (strcmp(words[i], "--kernel") == 0) o->kernel = value;
        else if (strcmp(words[i], "--cases") == 0) o->cases = strtol(value, NULL, 10);
        else if (strcmp(words[i], "--seed") == 0) o->seed = strtoull(value, NULL, 10);
        else return 0;
        i++;
    }
    return o->cases > 0;
}

int main(int count, char **words) {
    options o = {.cases = 300};
    tally t = {0, 0, 0};
    device *d = NULL;
    int kernels = 0;
    if (!read_options(count, words, &o)) {
        fprintf(stderr, "usage: kernels [--kernel NAME] [--cases N] [--seed S] [--caught]\n");
        return 2;
    }
    crash_is_caught = o.caught;
    catch_crashes();
    threads_set(1); /* the problems are small: starting threads for their reference costs more than it gives */
    if (backend_cuda.open(0, &d) != BRAID_OK) return 2;
    for (int i = 0; i < kernel_count(); i++) {
        const kernel *k = kernel_at(i);
        if (k->backend != KERNEL_CUDA || k->vendor || (o.kernel && strcmp(o.kernel, k->name) != 0)) continue;
        kernels += run_kernel(k, d, &o, &t);
    }
    if (kernels == 0) {
        printf("FAILED: there is no such kernel\n");
        t.failed++;
    }
    backend_cuda.close(d);
    if (o.caught) {
        printf(t.failed && kernels ? "caught\n1 passed, 0 failed, 0 skipped\n" : "not caught\n0 passed, 1 failed, 0 skipped\n");
        return t.failed && kernels ? 0 : 1;
    }
    printf("%ld passed, %ld failed, %ld skipped\n", t.passed, t.failed, t.skipped);
    return t.failed ? 1 : 0;
}
