/*
 * Early stopping: the run ends when the watched metric has not become better for more than `patience` epochs in a row,
 * that is at patience + 1 bad ones. Better is by more than min_delta, smaller for a loss, larger for an accuracy.
 * The same rule watches the whole network and, one state each, single streams. A value that is no number is never
 * better and counts as bad.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_STOPPING_H
#define BRAID_TRAIN_STOPPING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef enum stopping_monitor { STOPPING_VAL_LOSS, STOPPING_VAL_ACCURACY } stopping_monitor;

typedef struct stopping_options {
    stopping_monitor monitor;
    int64_t patience; /* 10 is usual; 0: the first bad epoch ends it */
    double min_delta; /* 1e-3 is usual */
} stopping_options;

/* All zeros at the start. */
typedef struct stopping_state {
    bool seen;          /* there is a best */
    int64_t best_epoch; /* counted as the caller counts */
    int64_t bad;        /* epochs in a row without a better one */
    double best;
    bool stopped;
} stopping_state;

/* "val_loss" and "val_accuracy". NULL, or BRAID_ERROR_ARGUMENT, for what is neither. */
const char *stopping_monitor_name(stopping_monitor monitor);
braid_status stopping_monitor_read(const char *text, stopping_monitor *monitor);

/* Takes in the metric of an epoch. True: it is the best so far. Then look at state->stopped. */
bool stopping_observe(const stopping_options *options, stopping_state *state, int64_t epoch, double metric);

/* The state and what it means, as the `early_stopping` entry of the history: stopped_early, best_epoch, best_metric,
 * monitor, patience, min_delta, bad_epochs. Returns a new reference, NULL without memory. */
json_t *stopping_save(const stopping_options *options, const stopping_state *state);

/* Reads the state back. The options are the run's own. */
braid_status stopping_load(const json_t *saved, stopping_state *state);

#endif
