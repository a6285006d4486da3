/*
 * step: the rate times gamma for every `size` epochs that have passed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "train/schedule.h"

enum { SIZE, GAMMA };

static double rate(const schedule_point *at) {
    return at->rate * pow(at->values[GAMMA], floor(at->epoch / at->values[SIZE]));
}

const schedule_rule schedule_step = {
    .name = "step",
    .summary = "times gamma after every `size` epochs",
    .parameters =
        {
            [SIZE] = {.name = "size", .low = 1, .high = 1e9, .usual = 30},
            [GAMMA] = {.name = "gamma", .low = 0, .high = 1, .usual = 0.1},
        },
    .rate = rate,
};
