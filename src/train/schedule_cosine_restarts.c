/*
 * cosine_restarts: half a cosine from the rate down to eta_min over t_0 epochs, then again from the top, each round
 * t_mult times as long as the one before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "train/schedule.h"

enum { T_0, T_MULT, ETA_MIN };

static double quarter_of_run(double epochs) { return fmax(10, floor(epochs / 4)); }

/* Rounds of growing length are stepped over one by one: exact where a logarithm may miss a border. They grow so fast
 * that there are few, unless t_mult is close to 1; rounds of one length are divided. */
static double rate(const schedule_point *at) {
    double length = at->values[T_0], into = at->epoch;
    if (at->values[T_MULT] == 1) into = fmod(into, length);
    while (into >= length) {
        into -= length;
        length *= at->values[T_MULT];
    }
    return schedule_half_cosine(at->rate, at->values[ETA_MIN], into / length);
}

const schedule_rule schedule_cosine_restarts = {
    .name = "cosine_restarts",
    .summary = "half a cosine down to eta_min, again and again, t_mult times longer each time",
    .parameters =
        {
            [T_0] = {.name = "t_0", .low = 1, .high = 1e9, .usual_for = quarter_of_run},
            [T_MULT] = {.name = "t_mult", .low = 1, .high = 1e3, .usual = 1},
            [ETA_MIN] = {.name = "eta_min", .high = 1e3, .usual = 1e-7},
        },
    .rate = rate,
};
