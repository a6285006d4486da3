/*
 * Ratios of times.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REACH 6.9 /* an interval from a thousandth to a thousandfold tells nothing */
#define MANY 1000      /* degrees of freedom of what is known for sure */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

interval interval_of(const double *samples, int count) {
    double sorted[RATIO_MAX_ROUNDS];
    if (count < 1) return (interval){0, 0, 0};
    if (count > RATIO_MAX_ROUNDS) count = RATIO_MAX_ROUNDS;
    memcpy(sorted, samples, (size_t)count * sizeof *samples);
    double median = median_of(sorted, count), reach = 0.98 * sqrt((double)count);
    int low = (int)floor((double)count / 2 - reach), high = (int)ceil((double)count / 2 + reach);
    if (low < 0) low = 0;
    if (high > count - 1) high = count - 1;
    return (interval){median, sorted[low], sorted[high]};
}

/* ---- Student's distribution --------------------------------------------------------------- */

/* How many standard errors an interval reaches to each side. Above the table the expansion by Cornish and Fisher is
 * right to three digits. */
static double student(certainty how, int freedom) {
    static const double table[2][10] = {
        {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228},
        {636.62, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587},
    };
    static const double normal[2] = {1.959964, 3.290527};
    if (freedom <= 10) return table[how][freedom - 1];
    const double z = normal[how], n = freedom, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

/* ---- Ratios ------------------------------------------------------------------------------- */

ratio ratio_itself(void) { return (ratio){0, 0, MANY}; }

ratio ratio_mean(const double *logs, int count) {
    double sum = 0, squares = 0;
    if (count < 2) return (ratio){count ? logs[0] : 0, 0, 0};
    for (int i = 0; i < count; i++) sum += logs[i];
    const double mean = sum / count;
    for (int i = 0; i < count; i++) squares += (logs[i] - mean) * (logs[i] - mean);
    return (ratio){mean, sqrt(squares / (count - 1.0) / count), count - 1};
}

/* The median of some rounds. */
static double median_of_rounds(const double *seconds, int first, int end) {
    double values[RATIO_MAX_ROUNDS];
    memcpy(values, seconds + first, (size_t)(end - first) * sizeof *values);
    return median_of(values, end - first);
}

ratio ratio_of_rounds(const double *a, const double *b, int rounds) {
    double logs[RATIO_GROUPS];
    if (rounds > RATIO_MAX_ROUNDS) rounds = RATIO_MAX_ROUNDS;
    const int blocks = rounds / 2, groups = blocks < RATIO_GROUPS ? blocks : RATIO_GROUPS;
    for (int g = 0; g < groups; g++) {
        const int first = 2 * (g * blocks / groups), end = 2 * ((g + 1) * blocks / groups);
        logs[g] = log(median_of_rounds(a, first, end) / median_of_rounds(b, first, end));
    }
    return ratio_mean(logs, groups);
}

static double square(double x) { return x * x; }

/* The mean of the logarithms and its error. */
static ratio mean_log(const double *times, int count) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) sum += log(times[i]);
    for (int i = 0; i < count; i++) squares += square(log(times[i]) - sum / count);
    return (ratio){sum / count, count > 1 ? sqrt(squares / (count - 1.0) / count) : 0, count - 1};
}

/* Welch's degrees of freedom. */
static int welch(const ratio *a, const ratio *b) {
    const double va = square(a->error), vb = square(b->error), both = square(va + vb);
    if (a->freedom < 1 || b->freedom < 1) return 0;
    if (both <= 0) return a->freedom < b->freedom ? a->freedom : b->freedom;
    return (int)(both / (va * va / a->freedom + vb * vb / b->freedom) + 1e-6);
}

ratio ratio_of_runs(const double *a, int a_count, const double *b, int b_count) {
    if (a_count < 1 || b_count < 1) return (ratio){0, 0, 0};
    const ratio x = mean_log(a, a_count), y = mean_log(b, b_count);
    return (ratio){x.log - y.log, sqrt(square(x.error) + square(y.error)), welch(&x, &y)};
}

ratio ratio_between(const ratio *a, const ratio *b) {
    const int fewer = a->freedom < b->freedom ? a->freedom : b->freedom;
    return (ratio){a->log - b->log, a->error + b->error, fewer};
}

/* ---- Claims ------------------------------------------------------------------------------- */

interval ratio_interval(const ratio *r, certainty how, double floor) {
    if (r->freedom < 1) return (interval){exp(r->log), 0, (double)INFINITY};
    const double reach = student(how, r->freedom) * r->error + log1p(floor);
    if (!(reach < MOST_REACH)) return (interval){exp(r->log), 0, (double)INFINITY};
    return (interval){exp(r->log), exp(r->log - reach), exp(r->log + reach)};
}

claim claim_of(const interval *times) {
    if (!(times->median > 0)) return CLAIM_NONE;
    if (times->high < 1) return CLAIM_FAST;
    if (times->low > 1) return CLAIM_SLOW;
    return times->high <= 1 + RATIO_SAME && times->low >= 1 / (1 + RATIO_SAME) ? CLAIM_SAME : CLAIM_AMBIGUOUS;
}
