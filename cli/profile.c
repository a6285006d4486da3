/*
 * braid profile: a network's plan, run step by step, with the time of every kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "plan_report.h"

typedef struct profile_options {
    common_options common;
    network_options network;
    int phase, rounds, effort;
    double seconds;
} profile_options;

#define OFFSET(member) offsetof(profile_options, member)
static const option profile_option_list[] = {
    {"phase", 0, OPTION_CHOICE, "train|eval", "a training step with AdamW (default), or a forward pass", OFFSET(phase)},
    {"rounds", 0, OPTION_COUNT, "N", "how often every step is timed (default: 5)", OFFSET(rounds)},
    {"effort", 0, OPTION_CHOICE, "measure|estimate|exhaustive", "how kernels are chosen (default: measure)",
     OFFSET(effort)},
    {"seconds", 0, OPTION_REAL, "S", "time budget of all races (default: 20)", OFFSET(seconds)},
    {0}};

static int profile(const profile_options *options, plan_work *work) {
    braid_report *report = NULL;
    int rounds = options->rounds ? options->rounds : 5;
    unsigned segments = BRAID_SEGMENT_FORWARD;
    if (options->phase == BRAID_PHASE_TRAIN) segments |= BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE;
    double *seconds = calloc((size_t)braid_plan_step_count(work->plan) + 1, sizeof *seconds);
    if (!seconds)
        return complain(BRAID_ERROR_MEMORY, "no memory for the times of %d steps", braid_plan_step_count(work->plan));
    braid_status status = braid_plan_run(work->plan, segments); /* warm */
    if (!status) status = braid_plan_profile(work->plan, segments, rounds, seconds);
    if (status) {
        free(seconds);
        return complain_braid(status);
    }
    status = braid_report_create(&report);
    if (!status) status = plan_report_summary(work, seconds, report);
    if (!status) status = plan_report_calls(work, seconds, &options->common, report);
    free(seconds);
    if (!status) return output_report(report, (braid_format)options->common.format);
    braid_report_destroy(report);
    return complain_lab(status);
}

static int run(const verb *self, int argc, char **argv) {
    profile_options options = {0};
    arguments words;
    plan_work work = {0};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    const plan_wish wish = {.common = &options.common,
                            .network = &options.network,
                            .phase = (braid_phase)options.phase,
                            .optimiser =
                                options.phase == BRAID_PHASE_TRAIN ? BRAID_OPTIMISER_ADAMW : BRAID_OPTIMISER_NONE,
                            .choice = {.effort = (braid_effort)options.effort, .seconds = options.seconds}};
    interrupt_begin();
    code = plan_work_open(words.word[0], &wish, &work);
    if (!code) code = plan_work_fill(&work);
    if (!code && !interrupted()) code = profile(&options, &work);
    plan_work_close(&work);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

const verb verb_profile = {
    .name = "profile",
    .arguments = "NET",
    .summary = "the time of every kernel of a network",
    .about =
        "Plans a training step (or a forward pass) of a network, runs it on random inputs call by call, and shows the\n"
        "time of every kernel, its share of the whole and the memory of the plan.",
    .options = profile_option_list,
    .examples = "braid profile linet18 --batch 2 --size 208x272\n"
                "braid profile mcresnet18 --phase eval --dtype bf16 -o csv\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
