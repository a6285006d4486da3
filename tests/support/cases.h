/*
 * The case tests: one main for every op, four modes.
 *
 *     conv2d [test|grad|perf|support] [--seed S] [--count N] [--until F] [--device cpu|cuda:0] [PROBLEM...]
 *
 * test     every candidate that can do a problem is judged against the reference (small integers bit for bit, real
 *          numbers under the bound, outputs poisoned, red zones, twice), then the properties of the op, then some
 *          gradients. The problems are tests/cases/<op>.txt and random ones up to N distinct problem strings.
 * grad     all gradients by finite differences in double.
 * perf     times the candidates of the problems through the public interface; asserts nothing.
 * support  the matrix of op, pass, dtype and candidate, with reasons.
 *
 * --until F ends the run after F failures. With problems on the command line only those are looked at: that
 * is how a failure is replayed. The last line is "N passed, N failed, N skipped"; a problem is one case
 * however many candidates do it, and so is one property on one problem and candidate.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_CASES_H
#define BRAID_TESTS_CASES_H

#include "kernels/kernel.h"

#define CASES_DETAIL 256

/* What a check found. NOT_HERE: the property says nothing about this problem or kernel, and nothing is counted. */
typedef enum outcome { HELD, BROKEN, NOT_HERE } outcome;

/* One property check: a problem and a kernel that supports it. A broken check says why in `detail`. */
typedef struct trial {
    const braid_problem *problem;
    const kernel *kernel;
    device *device;
    uint64_t seed;
    char detail[CASES_DETAIL];
} trial;

/* A rule that every kernel must keep, checked without asking the reference for each output. */
typedef struct property {
    const char *name;
    outcome (*check)(trial *t);
} property;

/* A run of one op's tests. */
typedef struct suite {
    braid_op_id op;
    device *device;
    const char *program; /* as it was called, for replay lines */
    uint64_t seed;
    int whole;     /* 1: all gradients, 0: some */
    int64_t until; /* failures to stop at; 0: never */
    int64_t passed, failed, skipped;
} suite;

/* What an op brings to the shared main. */
typedef struct op_tests {
    braid_op_id op;
    const property *properties;  /* end at a NULL name */
    void (*scenarios)(suite *s); /* fixed situations with known answers; may be NULL */
    void (*gradients)(suite *s); /* may be NULL */
} op_tests;

int cases_main(int argc, char **argv, const op_tests *tests);

/* Counts one case; prints the message where it did not hold. Returns `held`. */
__attribute__((format(printf, 3, 4))) int suite_expect(suite *s, int held, const char *format, ...);

/* 1 where the run has seen the failures it was to stop at. */
int suite_is_over(const suite *s);

/* Writes the reason into the trial. Returns BROKEN. */
__attribute__((format(printf, 2, 3))) outcome broken(trial *t, const char *format, ...);

/* The reason is this thread's message. */
outcome could_not_run(trial *t);

/* The index-th kernel of an op and pass that can do a problem on a device; NULL: there are no more. */
const kernel *able_kernel(const braid_problem *p, const device *d, int index);

#endif
