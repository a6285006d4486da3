/*
 * Timing kernels against each other: rounds in turns, forward and back, on random data, over enough copies of the
 * operands to exceed the last cache level. core/ratio.h says what the times show.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_MEASURE_H
#define BRAID_RACE_MEASURE_H

#include "core/ratio.h"
#include "race/image.h"

/* One kernel in the race. The caller sets `kernel` and `plant`; the rest is filled in. */
typedef struct runner {
    const kernel *kernel;
    double plant;      /* takes this share longer than the kernel does: to prove that it is found */
    char failure[256]; /* in words; empty: it ran */
    int lacks_memory;  /* 1: it failed for want of memory */
    void *state;
    size_t workspace_bytes;
    int iterations; /* launches per timed batch */
    double fastest; /* seconds of one launch in the fastest batch so far; 0: none yet */
    int rounds;
    int dropped;                      /* 1: so slow that it was not timed further */
    double seconds[RATIO_MAX_ROUNDS]; /* of one launch, round by round; all runners' rounds are the same */
} runner;

typedef struct measure_options {
    double seconds; /* time budget */
    int min_rounds; /* even beyond the budget */
    int warm;       /* 1: one copy of the operands, which a cache may hold */
    uint64_t seed;
} measure_options;

braid_status measure_runners(const braid_problem *p, device *d, runner *runners, int count,
                             const measure_options *options);

/* Seconds on a clock that only goes forward. */
double measure_now(void);

#endif
