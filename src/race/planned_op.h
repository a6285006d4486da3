/*
 * An op with its race and its kernel, as the public interface and the plans of networks share it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_PLANNED_OP_H
#define BRAID_RACE_PLANNED_OP_H

#include "race/race.h"

struct braid_op {
    braid_context *context;
    braid_problem problem;
    int is_brief;   /* 1: one of many in a plan: candidates that are predicted to be far slower are not raced */
    int is_checked; /* 1: a race with effort `checked_with` has checked the candidates of `race`, the next need not */
    braid_effort checked_with;
    race race;                                       /* of the last plan or check */
    braid_candidate candidates[RACE_MAX_CANDIDATES]; /* the same, for the caller */
    braid_race seen;
    const kernel *kernel; /* planned; NULL: none yet */
    void *state;
    int is_narrow; /* 1: a launch leaves room for others (narrow of kernel.h) */
    size_t workspace_bytes;
    void *workspace; /* of a single op; in a plan, workspaces lie in its arena */
};

/* Chooses and readies the kernel. The caller finds the workspace. */
braid_status op_choose(braid_op *op, const braid_plan_options *o);

/* A chosen kernel leaves room for others from now on, if it can. Its workspace may have another size then. */
braid_status op_narrow(braid_op *op);

/* Refuses efforts and budgets that cannot be meant. */
braid_status options_check(const braid_plan_options *o, const char *caller);

#endif
