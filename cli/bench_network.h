/*
 * braid bench NET: the time of a whole forward pass or training step, as one row.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_BENCH_NETWORK_H
#define BRAID_CLI_BENCH_NETWORK_H

#include "cli.h"

/* What one run of a network does. */
typedef enum network_run {
    NETWORK_TRAIN,   /* forward, loss and backward */
    NETWORK_FORWARD, /* of evaluation */
    NETWORK_STEP,    /* as train, and the update by AdamW */
} network_run;

typedef struct network_bench {
    const verb *verb;
    const arguments *words; /* networks and runs */
    const common_options *common;
    const network_options *network; /* as typed; a run brings what was not */
    network_run what;
    double seconds; /* for each; 0: 5 */
} network_bench;

/* Times each network and prints a row for each. Returns an exit code. */
int bench_networks(const network_bench *b);

#endif
