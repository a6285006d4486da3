/*
 * Timing kernels against each other: interleaved rounds on random data, over enough copies of the
 * operands to exceed the last cache level, medians with intervals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_PLAN_MEASURE_H
#define BRAID_PLAN_MEASURE_H

#include "plan/image.h"

#define MEASURE_MAX_ROUNDS 61

/* One kernel in the race. The caller sets `kernel`; the rest is filled in. */
typedef struct runner {
    const kernel *kernel;
    char failure[256]; /* in words; empty: it ran */
    int lacks_memory;  /* 1: it failed for want of memory */
    void *state;
    size_t workspace_bytes;
    int iterations; /* launches per timed batch */
    int rounds;
    int dropped; /* 1: so slow that it was not timed further */
    double seconds[MEASURE_MAX_ROUNDS];
} runner;

typedef struct measure_options {
    double seconds; /* time budget */
    int min_rounds; /* even beyond the budget */
    uint64_t seed;
} measure_options;

braid_status measure_runners(const braid_problem *p, device *d, runner *runners, int count,
                             const measure_options *options);

/* The median of the samples and its 95 % interval by order statistics. */
typedef struct interval {
    double median, low, high;
} interval;
interval measure_interval(const double *samples, int count);

/* Seconds on a clock that only goes forward. */
double measure_now(void);

#endif
