/*
 * A bench inside: what was measured, problem by problem. Split by step: run.c plans and copies what
 * the library saw, judge.c compares with the baseline, gate.c races again, rows.c makes the table.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BENCH_BENCH_H
#define BRAID_BENCH_BENCH_H

#include "report/lab.h"

typedef struct braid_bench {
    braid_context *context;
    braid_bench_options options;
    braid_bench_result *results; /* all texts and rows are owned */
    int count;
    braid_ceilings ceilings[BRAID_DTYPE_COUNT];
    int have_ceilings[BRAID_DTYPE_COUNT];
} braid_bench;

/* Gives every row its verdict, by its ratio to the baseline of the result. One that is our own kernel is none. */
void judge(braid_bench_result *result, braid_bench_row *rows);

/* The verdict of an interval of speeds: the other's time over this one's. */
braid_verdict judge_speed(double speed, double low, double high);

/* Races again, and sets the gate of the result. */
braid_status gate(const braid_bench *bench, braid_op *op, braid_bench_result *result);

/* Plans the op as the bench was asked to; `again` measures even what wisdom knows. */
braid_status bench_plan(const braid_bench *bench, braid_op *op, int again);

#endif
