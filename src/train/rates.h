/*
 * Learning rates and weight decays of the groups of parameters: each stream under its name, `integration` (the learned
 * mix) and `shared` (all others). As text, in options: a number alone is for all groups, GROUP=NUMBER for one, commas
 * between: 0.001,rgb=3e-5,integration=7e-6. What stands behind wins.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_RATES_H
#define BRAID_TRAIN_RATES_H

#include <jansson.h>

#include "braid_train.h"
#include "core/status.h"

#define RATES_TEXT_BYTES 512

typedef struct rates_groups {
    int count; /* at most BRAID_MAX_GROUPS */
    const char *name[BRAID_MAX_GROUPS];
} rates_groups;

/* The groups of a network; the names are borrowed from it. */
void rates_of_net(const braid_net *net, rates_groups *groups);

/* Changes the values that the text names; a wrong text changes none, and `what` ("rate") stands in the message. */
braid_status rates_read(const char *text, const char *what, const rates_groups *groups, double *values);

/* The shortest text that rates_read takes for the values. */
void rates_print(const double *values, const rates_groups *groups, char text[RATES_TEXT_BYTES]);

/* For a checkpoint and back. rates_save returns a new reference, NULL without memory. */
json_t *rates_save(const braid_rates *rates, int count);
braid_status rates_load(const json_t *saved, int count, braid_rates *rates);

#endif
