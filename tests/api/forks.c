/*
 * Tests of forks: contexts are made in children whose parent has used any number of threads or none. A child works, on
 * one thread and to the same bits. None waits for threads that the fork has left behind, ours or those of a vendor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/given.h"

#define MOST_THREADS 16
#define LIMIT_S 10 /* a child that hangs ends with SIGALRM */
#define MOST_BYTES 65536

typedef struct job {
    const char *problem, *vendor; /* NULL: a kernel of ours */
    braid_op_id op;
} job;

static const job jobs[] = {
    {"linear_fwd:b32:c64:k48:bias1", NULL, BRAID_OP_LINEAR},
    {"conv2d_fwd:b4:hw12:c16:k16:rs3:pad1", NULL, BRAID_OP_CONV2D},
    {"linear_fwd:b32:c64:k48:bias1", "onednn", BRAID_OP_LINEAR},
    {"conv2d_fwd:b4:hw12:c16:k16:rs3:pad1", "onednn", BRAID_OP_CONV2D},
    {"linear_fwd:b32:c64:k48:bias1", "openblas", BRAID_OP_LINEAR},
};
#define JOBS (sizeof jobs / sizeof jobs[0])

/* Of every operand of a job; 0: it could not be run. */
static uint64_t hash_operands(const braid_op *op, const given_memory *memory) {
    uint64_t hash = UINT64_C(1469598103934665603);
    for (int j = 0; j < memory->count; j++) {
        braid_operand_info info;
        if (braid_op_operand(op, j, &info)) return 0;
        const unsigned char *bytes = memory->operands[j].plane[0];
        for (size_t i = 0; i < info.bytes[0]; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static void fill(const braid_op *op, const given_memory *memory) {
    for (int j = 0; j < memory->count; j++) {
        braid_operand_info info;
        rng r = {.seed = 5, .stream = (uint64_t)j};
        if (braid_op_operand(op, j, &info) || info.role == BRAID_ROLE_OUT) continue;
        float *values = memory->operands[j].plane[0];
        for (size_t i = 0; i < info.bytes[0] / sizeof *values; i++) values[i] = (float)rng_normal(&r);
    }
}

/* The kernel of ours that is predicted to be the fastest on one thread: the same in every process. */
static const char *own_kernel(const job *j) {
    braid_context *context = given_context("", "onednn,openblas");
    braid_op *op = given_op(context, j->problem);
    const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};
    const char *name = NULL;
    if (!braid_op_plan(op, &estimate)) name = braid_op_explain(op)->candidates[braid_op_explain(op)->winner].kernel;
    braid_op_destroy(op);
    braid_context_destroy(context);
    return name;
}

/* Runs a job three times. 0: a call failed. */
static uint64_t run_job(braid_context *context, const job *j) {
    uint64_t hash = 0;
    braid_op *op = given_op(context, j->problem);
    const braid_plan_options options = {.kernel =
                                            j->vendor ? given_kernel(j->op, BRAID_PASS_FWD, j->vendor) : own_kernel(j)};
    braid_status status = braid_op_plan(op, &options);
    given_memory memory = given_operands(context, op);
    fill(op, &memory);
    for (int round = 0; round < 3 && !status; round++) status = braid_op_run(op, memory.operands, memory.count);
    if (!status) hash = hash_operands(op, &memory);
    if (status) printf("%s: %s\n", options.kernel, braid_message());
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    return hash;
}

/* All jobs in a context of its own. */
static int run_jobs(int threads, uint64_t hashes[JOBS]) {
    braid_context *context = NULL;
    const braid_context_options options = {"cpu", threads, BRAID_REPRO_RUN, "", NULL};
    if (braid_context_create(&options, &context)) return 0;
    for (size_t j = 0; j < JOBS; j++) hashes[j] = run_job(context, &jobs[j]);
    braid_context_destroy(context);
    return 1;
}

/* In a child: the jobs of our own kernels give the bits that they gave; those of vendors end. */
static int try_child(int threads, const uint64_t expected[JOBS]) {
    uint64_t hashes[JOBS] = {0};
    alarm(LIMIT_S);
    if (!run_jobs(threads, hashes)) return 1;
    for (size_t j = 0; j < JOBS; j++)
        if (!hashes[j] || (!jobs[j].vendor && hashes[j] != expected[j])) return 10 + (int)j;
    return 0;
}

static void assert_child(int threads, const uint64_t expected[JOBS]) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(try_child(threads, expected));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("%d threads: the child ended by signal %d", threads, WTERMSIG(status));
    if (status) fail_msg("%d threads: the child said %d", threads, WEXITSTATUS(status));
}

/* The first of all: nothing has run a thread before the fork. */
static void before_any_context(void **state) {
    uint64_t expected[JOBS] = {0};
    int ends[2];
    (void)state;
    SKIP_THREADS_AFTER_FORK();
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LIMIT_S);
        int failed = !run_jobs(4, expected);
        _exit(failed || write(ends[1], expected, sizeof expected) != sizeof expected);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    uint64_t hashes[JOBS];
    assert_int_equal(read(ends[0], expected, sizeof expected), sizeof expected);
    assert_true(run_jobs(4, hashes));
    for (size_t j = 0; j < JOBS; j++) {
        assert_true(expected[j] != 0);
        if (!jobs[j].vendor) assert_true(hashes[j] == expected[j]);
    }
    close(ends[0]);
    close(ends[1]);
}

static void after_contexts_of_any_number_of_threads(void **state) {
    (void)state;
    SKIP_THREADS_AFTER_FORK();
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        uint64_t expected[JOBS];
        assert_true(run_jobs(threads, expected));
        assert_child(threads, expected);
        assert_child(MOST_THREADS + 1 - threads, expected);
    }
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_any_context),
        cmocka_unit_test(after_contexts_of_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("forks", tests, NULL, NULL);
}
