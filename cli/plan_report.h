/*
 * A plan of a network as a report: its memory, its steps with their kernels, and why each was chosen. Shared by
 * explain, profile and tune.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_PLAN_REPORT_H
#define BRAID_CLI_PLAN_REPORT_H

#include "plan_groups.h"

#define PLAN_SHAPE_TEXT 160

/* What a verb does with a plan. */
typedef struct plan_work {
    braid_net *net;
    braid_context *context;
    braid_model *model;
    braid_plan *plan;
    char shape[PLAN_SHAPE_TEXT]; /* what is planned, in words */
    int updates;                 /* 1: the plan has an optimiser */
    double planning_s;           /* how long it took to choose */
} plan_work;

typedef struct plan_wish {
    const common_options *common;
    const network_options *network;
    braid_phase phase;
    braid_optimiser optimiser;
    braid_plan_options choice;
} plan_wish;

/* Network, context, model and plan, as the options ask for. Batch and image size have defaults by network. Returns 0,
 * or an exit code after a message; plan_work_close in any case. */
int plan_work_open(const char *name, const plan_wish *wish, plan_work *work);
void plan_work_close(plan_work *work);

/* Random inputs, and rates with which the update does its work and changes next to nothing. Returns 0, or an exit code
 * after a message. */
int plan_work_fill(plan_work *work);

/* Different problems of a plan: measured now, remembered from earlier races, and chosen without any time. */
typedef struct plan_problems {
    int all, measured, remembered, untimed;
} plan_problems;
plan_problems plan_count_problems(const braid_plan *plan);

/* Adds the lines on the network, its memory, its calls and what the races gained, and what was measured. */
braid_status plan_report_summary(const plan_work *work, const plan_figures *figures, braid_report *report);

/* Adds the calls: for people grouped by problem, with -v every group and every call; for programs everything. */
braid_status plan_report_calls(const plan_work *work, const plan_figures *figures, const common_options *common,
                               braid_report *report);

#endif
