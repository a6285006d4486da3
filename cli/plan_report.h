/*
 * A plan of a network as a report: its memory, its steps with their kernels, and why each was chosen. Shared by
 * explain and profile.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_PLAN_REPORT_H
#define BRAID_CLI_PLAN_REPORT_H

#include "cli.h"

/* What a verb does with a plan. */
typedef struct plan_work {
    braid_net *net;
    braid_context *context;
    braid_model *model;
    braid_plan *plan;
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

/* Adds the lines on the network and its memory, and the table of its steps; seconds[j], where given, was measured. */
braid_status plan_report_fill(const plan_work *work, const double *seconds, braid_report *report);

#endif
