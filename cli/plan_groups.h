/*
 * The calls of a plan, those with the same problem together, costliest first: what a person looks at. Programs get
 * every call (plan_report.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_PLAN_GROUPS_H
#define BRAID_CLI_PLAN_GROUPS_H

#include "cli.h"

/* The problem with as few words as still mean it: what is typed, not what is printed. */
void problem_shorten(const braid_problem *problem, char text[BRAID_PROBLEM_TEXT]);

/* Why a kernel was chosen, in a few words: "1.42x onednn". */
void race_shorten(const braid_race *race, char *text, size_t room);

/* forward, again (a forward call that is repeated to save memory), backward or update. */
const char *step_segment_name(const braid_step_info *info);

/* 1 for a step that adds the parts which steps before it left. */
int step_adds_parts(const braid_step_info *info);

/* "pack" for a step that packs weights, "sums" for one that adds parts, else NULL. */
const char *step_part_name(const braid_step_info *info);

/* What a profile has measured; all zero: nothing. */
typedef struct plan_figures {
    const double *seconds;   /* of every call */
    braid_ceilings ceilings; /* of the device; zeros: not known */
} plan_figures;

/* Seconds of a call: as measured where `seconds` is given, else as its race has them; 0: unknown. */
double step_seconds(const braid_plan *plan, int index, const double *seconds);

/* Returns a table with a row for each problem and segment, at most `most` and one more for all others; 0: no limit.
 * With measured seconds it has launches, bytes, the share of the roofline and layout copies, too. */
braid_status plan_groups_table(const braid_plan *plan, const plan_figures *figures, int most, braid_table **table);

#endif
