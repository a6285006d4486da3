/*
 * braid check NET: training steps that give the same bits however they are run.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_CHECK_NETWORK_H
#define BRAID_CLI_CHECK_NETWORK_H

#include "cli.h"

/* Zero means the default. */
typedef struct network_check {
    const common_options *common;
    const network_options *network;
    int steps, runs;
} network_check;

/* Trains a network for some steps launch by launch, then `runs` times as it is trained in earnest, and compares all of
 * its numbers. Returns 0, or an exit code after a message. */
int check_network(const char *name, const network_check *check);

#endif
