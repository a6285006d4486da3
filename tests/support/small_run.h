/*
 * A training run that is as small as can be: rows of six numbers in three classes, two small layers, one thread. For
 * tests that save and load a run hundreds of times; what it computes follows from the number of steps alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_SMALL_RUN_H
#define BRAID_TESTS_SMALL_RUN_H

#include "braid.h"

typedef struct small_run {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
} small_run;

/* SGD with momentum, 6 updates an epoch, more epochs than any test needs, no folder. */
braid_train_options small_run_options(void);

/* Begins or, where options->resume says so, goes on. In any case small_run_close must follow. */
braid_status small_run_open(small_run *r, const braid_train_options *options);
void small_run_close(small_run *r);

/* Updates that are behind the run. */
int64_t small_run_step(const small_run *r);

#endif
