/*
 * constant: the group's own rate, always.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/schedule.h"

static double rate(const schedule_point *at) { return at->rate; }

const schedule_rule schedule_constant = {
    .name = "constant",
    .summary = "the same rate throughout",
    .rate = rate,
};
