/*
 * How long one thing takes beside another, and what may be claimed of it. Times come from rounds in which all take
 * turns: one round forward, the next in reverse order (A B, then B A), so that a clock that drifts hits both alike. Two
 * such rounds are a block. Blocks that follow each other may be disturbed together, so they are gathered into a few
 * groups in the order of time. A group gives one ratio, that of its medians, which a single disturbance does not move;
 * the interval is Student's over the groups. Nothing is drawn at random: the same times give the same claim.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_RATIO_H
#define BRAID_CORE_RATIO_H

#define RATIO_MAX_ROUNDS 64
#define RATIO_GROUPS 8
#define RATIO_SAME 0.05 /* an interval that holds 1 and reaches no further than this share is SAME */

/* A value between two others. */
typedef struct interval {
    double median, low, high;
} interval;

/* The median of up to RATIO_MAX_ROUNDS samples and its 95 % interval by order statistics. */
interval interval_of(const double *samples, int count);

/* The logarithm of one time over another, with the standard error of it and its degrees of freedom; 0 of them: nothing
 * is known. */
typedef struct ratio {
    double log, error;
    int freedom;
} ratio;

/* Of a thing to itself. */
ratio ratio_itself(void);

/* a over b, from rounds in which they took turns; fewer than two blocks say nothing. */
ratio ratio_of_rounds(const double *a, const double *b, int rounds);

/* a over b, from independent values of their times, as of whole runs: Welch's interval. */
ratio ratio_of_runs(const double *a, int a_count, const double *b, int b_count);

/* The mean of many ratios, each of them one value. */
ratio ratio_mean(const double *logs, int count);

/* a over b where both are over the same third. */
ratio ratio_between(const ratio *a, const ratio *b);

/* How sure an interval is: in 1 of 20 cases it may miss the truth where something must be chosen, in 1 of 1000 where
 * something is claimed. */
typedef enum certainty { CERTAIN_TO_CHOOSE, CERTAIN_TO_CLAIM } certainty;

/* The ratio of times and its interval, wider by the floor on each side: a share by which two measurements of one thing
 * differ although neither shows it. Not known: from 0 to infinity. */
interval ratio_interval(const ratio *r, certainty how, double floor);

/* What an interval of time over time claims of the first. */
typedef enum claim { CLAIM_NONE, CLAIM_FAST, CLAIM_SLOW, CLAIM_SAME, CLAIM_AMBIGUOUS } claim;
claim claim_of(const interval *times);

#endif
