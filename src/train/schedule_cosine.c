/*
 * cosine: half a cosine from the rate down to eta_min over t_max epochs. Behind them it rises again, as the formula
 * does; t_max is the rest of the run unless told otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "train/schedule.h"

enum { T_MAX, ETA_MIN };

static double rest_of_run(double epochs) { return fmax(epochs, 1); }

static double rate(const schedule_point *at) {
    return schedule_half_cosine(at->rate, at->values[ETA_MIN], at->epoch / at->values[T_MAX]);
}

const schedule_rule schedule_cosine = {
    .name = "cosine",
    .summary = "half a cosine down to eta_min over t_max epochs",
    .parameters =
        {
            [T_MAX] = {.name = "t_max", .low = 1, .high = 1e9, .usual_for = rest_of_run},
            [ETA_MIN] = {.name = "eta_min", .high = 1e3},
        },
    .rate = rate,
};
