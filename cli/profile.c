/*
 * braid profile: a network's plan, run step by step, with the time of every kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <time.h>

#include "plan_report.h"
#include "trace.h"

enum { WHOLE_SAMPLES = 9, WHOLE_RUNS = 3 };

typedef struct profile_options {
    common_options common;
    network_options network;
    int phase, rounds, effort;
    double seconds;
    const char *trace;
} profile_options;

typedef struct whole_times {
    double start_s, all_s, gradients_s; /* gradients_s: 0 where there is no update to leave out */
} whole_times;

#define OFFSET(member) offsetof(profile_options, member)
static const option profile_option_list[] = {
    {"phase", 0, OPTION_CHOICE, "train|eval", "train", "a training step with AdamW, or a forward pass", OFFSET(phase)},
    {"rounds", 0, OPTION_COUNT, "N", "5", "how often every step is timed", OFFSET(rounds)},
    {"effort", 0, OPTION_CHOICE, "measure|estimate|exhaustive", "measure", "how kernels are chosen", OFFSET(effort)},
    {"seconds", 0, OPTION_REAL, "S", "16", "time budget of all races", OFFSET(seconds)},
    {"trace", 0, OPTION_TEXT, "FILE", "none", "write a trace for chrome://tracing or ui.perfetto.dev", OFFSET(trace)},
    {0}};

static double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned segments_of(const profile_options *options) {
    unsigned segments = BRAID_SEGMENT_FORWARD;
    if (options->phase == BRAID_PHASE_TRAIN) segments |= BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE;
    return segments;
}

/* The whole of it, as it runs in earnest: a run's share of a few in a row, the median of some such rows. */
static braid_status time_whole(const plan_work *work, unsigned segments, double *seconds) {
    double times[WHOLE_SAMPLES];
    braid_status status = BRAID_OK;
    for (int i = 0; i < WHOLE_SAMPLES && !status; i++)
        status = braid_plan_time(work->plan, segments, WHOLE_RUNS, &times[i]);
    for (int i = 0; i < WHOLE_SAMPLES && !status; i++) { /* sorts by insertion */
        double one = times[i];
        int at = i;
        for (; at > 0 && times[at - 1] > one; at--) times[at] = times[at - 1];
        times[at] = one;
    }
    if (!status) *seconds = times[WHOLE_SAMPLES / 2] / WHOLE_RUNS;
    return status;
}

/* Of a training step also the part that other programs time: forward pass, loss and backward pass. */
static braid_status add_whole(const whole_times *whole, braid_report *report) {
    char text[120];
    if (whole->gradients_s > 0)
        snprintf(text, sizeof text, "%.4g ms, one run as a whole; %.4g ms without norm and update", 1e3 * whole->all_s,
                 1e3 * whole->gradients_s);
    else
        snprintf(text, sizeof text, "%.4g ms, one run as a whole", 1e3 * whole->all_s);
    braid_status status = braid_report_add_text(report, "whole", "whole", text);
    if (!status) status = braid_report_add_number(report, "whole_ms", NULL, 1e3 * whole->all_s);
    if (!status && whole->gradients_s > 0)
        status = braid_report_add_number(report, "gradients_ms", NULL, 1e3 * whole->gradients_s);
    return status;
}

/* From the program's first line to the end of the first run: the device, the network, its kernels. */
static braid_status add_start(double seconds, braid_report *report) {
    char text[80];
    snprintf(text, sizeof text, "%.3g s to the end of the first run", seconds);
    braid_status status = braid_report_add_text(report, "start", "start", text);
    return status ? status : braid_report_add_number(report, "start_s", NULL, seconds);
}

static int print_profile(const profile_options *options, const plan_work *work, const plan_figures *figures,
                         const whole_times *whole) {
    braid_report *report = NULL;
    braid_status status = braid_report_create(&report);
    if (!status) status = plan_report_summary(work, figures, report);
    if (!status) status = add_start(whole->start_s, report);
    if (!status) status = add_whole(whole, report);
    if (!status) status = plan_report_calls(work, figures, &options->common, report);
    if (!status) return output_report(report, (braid_format)options->common.format);
    braid_report_destroy(report);
    return complain_lab(status);
}

static int profile(const profile_options *options, plan_work *work, double begin_s) {
    int rounds = options->rounds ? options->rounds : 5;
    double *seconds = calloc((size_t)braid_plan_step_count(work->plan) + 1, sizeof *seconds);
    whole_times whole = {0};
    plan_figures figures = {.seconds = seconds};
    if (!seconds)
        return complain(BRAID_ERROR_MEMORY, "no memory for the times of %d steps", braid_plan_step_count(work->plan));
    braid_status status = braid_plan_run(work->plan, segments_of(options)); /* warm */
    if (!status) status = braid_synchronize(work->context);
    whole.start_s = clock_now() - begin_s;
    if (!status) status = time_whole(work, segments_of(options), &whole.all_s);
    if (!status && options->phase == BRAID_PHASE_TRAIN)
        status = time_whole(work, segments_of(options) & ~(unsigned)BRAID_SEGMENT_UPDATE, &whole.gradients_s);
    if (!status) status = braid_plan_profile(work->plan, segments_of(options), rounds, seconds);
    int is_known = !network_tf32(&options->network); /* the ceiling of f32 is not that of TF32 */
    if (!status && is_known &&
        braid_context_ceilings(work->context, network_dtype(&options->network), &figures.ceilings))
        figures.ceilings = (braid_ceilings){0}; /* no roofline is known then */
    int code = status ? complain_braid(status) : print_profile(options, work, &figures, &whole);
    if (!code && options->trace) code = trace_save(work, &figures, options->trace);
    free(seconds);
    return code;
}

static int run(const verb *self, int argc, char **argv) {
    const double begin_s = clock_now();
    profile_options options = {0};
    arguments words;
    plan_work work = {0};
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.common.help) return help_print(self);
    code = network_take_run(self, words.word[0], &words, &options.common);
    if (code) return code;
    const plan_wish wish = {.common = &options.common,
                            .network = &options.network,
                            .phase = (braid_phase)options.phase,
                            .optimiser =
                                options.phase == BRAID_PHASE_TRAIN ? BRAID_OPTIMISER_ADAMW : BRAID_OPTIMISER_NONE,
                            .choice = {.effort = (braid_effort)options.effort, .seconds = options.seconds}};
    interrupt_begin();
    code = plan_work_open(words.word[0], &wish, &work);
    if (!code) code = plan_work_fill(&work);
    if (!code && !interrupted()) code = profile(&options, &work, begin_s);
    plan_work_close(&work);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}

const verb verb_profile = {
    .name = "profile",
    .group = "Kernels and speed",
    .arguments = "NET|RUN",
    .summary = "the time of every kernel of a network",
    .about =
        "Plans a training step (or a forward pass) of a network, or of the network of a RUN at its batch, size and\n"
        "dtype, runs it on random inputs call by call, and shows the time of every kernel, its share of the whole,\n"
        "its bytes, what share of the roofline that is, and the memory of the plan. On a GPU the calls run in\n"
        "sequence without the host between them; what each puts into the queue is counted, vendor libraries' own\n"
        "kernels included, and so are layout copies. \"whole\" is a run's share of a few in a row; of a training\n"
        "step also without the norm of the gradients and the update. \"pack\" marks steps that only lay weights out\n"
        "for a kernel.",
    .options = profile_option_list,
    .examples = "braid profile linet18 --batch 2 --size 208x272\n"
                "braid profile run\n"
                "braid profile mcresnet18 --phase eval --dtype bf16 -o csv\n"
                "braid profile linet18 --batch 16 --size 416x544 --dtype f16 --device cuda:0 --trace step.json\n",
    .common = COMMON_CONTEXT | COMMON_FORMAT | COMMON_TALK | COMMON_DETAIL | COMMON_NETWORK,
    .least = 1,
    .most = 1,
    .run = run,
};
