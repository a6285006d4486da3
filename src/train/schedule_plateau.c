/*
 * plateau: the rate times `factor`, at least min_lr, whenever the metric has not become better for more than
 * `patience` epochs in a row. Better is smaller (maximize=1: larger) than the best so far by a share of `threshold`.
 * After a cut, bad epochs do not count for `cooldown` epochs. When to cut is the same for all groups and follows the
 * first one's parameters; how far is each group's own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "train/schedule.h"

#define SMALLEST_CUT 1e-8 /* a cut that changes the rate by less is left out */

enum { FACTOR, PATIENCE, MIN_LR, THRESHOLD, COOLDOWN, MAXIMIZE };

static double rate(const schedule_point *at) {
    double now = at->rate;
    for (int64_t cut = 0; cut < at->state->reductions; cut++) {
        double next = fmax(now * at->values[FACTOR], at->values[MIN_LR]);
        if (now - next <= SMALLEST_CUT) break; /* nor would a later one change it */
        now = next;
    }
    return now;
}

static bool better(const double *values, double metric, const schedule_state *state) {
    if (!isfinite(metric)) return false;
    if (state->seen == 0) return true;
    return values[MAXIMIZE] > 0 ? metric > state->best * (1 + values[THRESHOLD])
                                : metric < state->best * (1 - values[THRESHOLD]);
}

static void observe(const double *values, double metric, schedule_state *state) {
    if (better(values, metric, state)) {
        state->best = metric;
        state->bad = 0;
        state->seen++;
    } else {
        state->bad++;
    }
    if (state->cooldown > 0) {
        state->cooldown--;
        state->bad = 0;
    }
    if ((double)state->bad > values[PATIENCE]) {
        state->reductions++;
        state->cooldown = (int64_t)values[COOLDOWN];
        state->bad = 0;
    }
}

const schedule_rule schedule_plateau = {
    .name = "plateau",
    .summary = "times `factor` when the metric has not become better for a while",
    .parameters =
        {
            [FACTOR] = {.name = "factor", .low = 0, .high = 1, .usual = 0.5},
            [PATIENCE] = {.name = "patience", .whole = true, .low = 0, .high = 1e9, .usual = 5},
            [MIN_LR] = {.name = "min_lr", .high = 1e3, .usual = 1e-7},
            [THRESHOLD] = {.name = "threshold", .low = 0, .high = 1, .usual = 1e-4},
            [COOLDOWN] = {.name = "cooldown", .whole = true, .low = 0, .high = 1e9, .usual = 0},
            [MAXIMIZE] = {.name = "maximize", .whole = true, .low = 0, .high = 1, .usual = 0},
        },
    .rate = rate,
    .observe = observe,
};
