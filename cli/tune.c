/*
 * braid tune: fills the wisdom for a network, so that train, predict and everything else that plans it later begins at
 * once with kernels that were measured.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "plan_report.h"

typedef struct tune_options {
    common_options common;
    network_options network;
    int phase, effort, again;
    double seconds;
} tune_options;

#define OFFSET(member) offsetof(tune_options, member)
static const option tune_option_list[] = {
    {"phase", 0, OPTION_CHOICE, "train|eval", "train", "a training step with AdamW, or a forward pass", OFFSET(phase)},
    {"seconds", 0, OPTION_REAL, "S", "until every problem is measured",
     "end after about S seconds, the costliest problems first; the same command again continues", OFFSET(seconds)},
    {"effort", 0, OPTION_CHOICE, "measure|exhaustive", "measure", "short races, or every candidate to the end",
     OFFSET(effort)},
    {"again", 0, OPTION_FLAG, NULL, NULL, "measure what is remembered too", OFFSET(again)},
    {0}};

/* How many problems were measured now, for how long, and how many were not. */
static braid_status add_tuned(const plan_work *work, braid_report *report) {
    const plan_problems p = plan_count_problems(work->plan);
    char text[200];
    int used = snprintf(text, sizeof text, "%d of %d problems measured now, %d remembered; %.1f s", p.measured, p.all,
                        p.remembered, work->planning_s);
    if (p.untimed)
        snprintf(text + used, sizeof text - (size_t)used,
                 "; %d left untuned: the same command measures more, --seconds gives it more time", p.untimed);
    braid_status status = braid_report_add_text(report, "tuned", "tuned", text);
    if (!status) status = braid_report_add_number(report, "untuned", NULL, p.untimed);
    return status ? status : braid_report_add_number(report, "seconds", NULL, work->planning_s);
}

static int tune(const tune_options *options, const plan_work *work) {
    braid_report *report = NULL;
    const plan_figures unmeasured = {0};
    braid_status status = braid_report_create(&report);
    if (!status) status = plan_report_summary(work, &unmeasured, report);
    if (!status) status = add_tuned(work, report);
    if (!status && options->common.format == BRAID_FORMAT_TABLE && !options->common.verbose)
        return output_report(report, BRAID_FORMAT_TABLE);
    if (!status) status = plan_report_calls(work, &unmeasured, &options->common, report);
    if (!status) return output_report(report, (braid_format)options->common.format);
    braid_report_destroy(report);
    return complain_lab(status);
}

static int run(const verb *self, int argc, char **argv) {
    tune_options options = {0};
    arguments words;
    plan_work work = {0};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    const char *folder = options.common.cache_dir ? options.common.cache_dir : getenv("BRAID_CACHE_DIR");
    if (folder && !*folder)
        return complain(BRAID_ERROR_ARGUMENT, "%s: expected a folder to keep what is measured, got \"\"",
                        options.common.cache_dir ? "--cache-dir" : "BRAID_CACHE_DIR");
    code = network_take_run(self, words.word[0], &words, &options.common);
    if (code) return code;
    const plan_wish wish = {.common = &options.common,
                            .network = &options.network,
                            .phase = (braid_phase)options.phase,
                            .optimiser =
                                options.phase == BRAID_PHASE_TRAIN ? BRAID_OPTIMISER_ADAMW : BRAID_OPTIMISER_NONE,
                            .choice = {.effort = options.effort ? BRAID_EFFORT_EXHAUSTIVE : BRAID_EFFORT_MEASURE,
                                       .seconds = options.seconds,
                                       .again = options.again,
                                       .all = 1}};
    interrupt_begin();
    code = plan_work_open(words.word[0], &wish, &work);
    if (!code) code = tune(&options, &work);
    plan_work_close(&work);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

const verb verb_tune = {
    .name = "tune",
    .group = "Kernels and speed",
    .arguments = "NET|RUN",
    .summary = "measure the kernels of a network, and remember",
    .about = "Races the candidates of every problem of a network at the given batch, size and dtype, and keeps the\n"
             "times in the cache folder, where all later plans find them; predict, which never measures, too. What is\n"
             "remembered is not measured again. Prints what the races gained: how much faster the chosen kernels\n"
             "are than the fastest vendor kernel of each problem, or than the ops of a fused one run one by one.\n"
             "-v lists the calls. Ctrl-C ends after the current problem and keeps what was measured (exit 130).",
    .options = tune_option_list,
    .examples = "braid tune linet18 --batch 16 --size 416x544 --dtype bf16 --seconds 120\n"
                "braid tune lenet86 --batch 1000 --phase eval\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_DETAIL | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
