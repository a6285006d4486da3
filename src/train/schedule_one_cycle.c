/*
 * one_cycle: over all steps behind the warm-up, from peak / div up to the peak in the first `pct` of them, then down to
 * peak / (div * final_div), each by half a cosine. The peak is `peak` times the group's rate. A value for every step.
 * The momentum stays as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "train/schedule.h"

enum { PEAK, PCT, DIV, FINAL_DIV };

static double rate(const schedule_point *at) {
    const double *v = at->values;
    double peak = v[PEAK] * at->rate, start = peak / v[DIV], end = start / v[FINAL_DIV];
    double last = (double)at->steps - 1, top = v[PCT] * (double)at->steps - 1, now = (double)at->step;
    if (now >= last) return end;
    if (now <= top) return schedule_half_cosine(start, peak, top > 0 ? now / top : 1);
    return schedule_half_cosine(peak, end, (now - top) / (last - top));
}

const schedule_rule schedule_one_cycle = {
    .name = "one_cycle",
    .summary = "up to the peak and down to almost nothing, once, step by step",
    .parameters =
        {
            [PEAK] = {.name = "peak", .low = 1e-9, .high = 1e9, .usual = 10},
            [PCT] = {.name = "pct", .low = 0, .high = 1, .usual = 0.3},
            [DIV] = {.name = "div", .low = 1, .high = 1e12, .usual = 25},
            [FINAL_DIV] = {.name = "final_div", .low = 1, .high = 1e12, .usual = 1e4},
        },
    .always_by_step = true,
    .rate = rate,
};
