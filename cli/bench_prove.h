/*
 * braid bench --prove: how often the verdicts are wrong.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_BENCH_PROVE_H
#define BRAID_CLI_BENCH_PROVE_H

#include "cli.h"

typedef struct proof_job {
    const common_options *common;
    const char *const *problems;
    int count;
    int rows; /* to race; 0: each problem once */
    double seconds;
    const char *out; /* folder of rows.csv and sums.csv; NULL: none */
} proof_job;

/* Races kernels against themselves, problem after problem and again from the first, and prints the sums; with csv and
 * json the rows. Returns an exit code. */
int bench_prove(const proof_job *job);

#endif
