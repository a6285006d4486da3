/*
 * Plans as reports.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan_report.h"

#include <math.h>
#include <string.h>

/* What a network is usually planned at, where nothing is said. */
static void default_shape(const char *name, braid_plan_request *r) {
    int images = strncmp(name, "ssae", 4) != 0 && strncmp(name, "mlp", 3) != 0;
    if (!r->batch) r->batch = images ? 2 : 256;
    if (!images || r->size[0]) return;
    r->size[0] = strcmp(name, "lenet86") ? 208 : 86;
    r->size[1] = strcmp(name, "lenet86") ? 272 : 86;
}

int plan_work_open(const char *name, const plan_wish *wish, plan_work *work) {
    braid_plan_request r = {
        .phase = wish->phase, .batch = wish->network->batch, .optimiser = wish->optimiser, .choice = wish->choice};
    const braid_model_options model = {.dtype = network_dtype(wish->network), .seed = wish->network->seed};
    *work = (plan_work){0};
    int code = network_size(wish->network, r.size);
    if (!code) code = network_open(name, wish->network, &work->net);
    if (!code) code = context_open(wish->common, &work->context);
    if (code) return code;
    default_shape(name, &r);
    braid_status status = braid_model_create(work->context, work->net, &model, &work->model);
    if (!status && !wish->common->quiet) fprintf(stderr, "planning %s ...\n", name);
    if (!status) status = braid_plan_create(work->model, &r, &work->plan);
    return status ? complain_braid(status) : 0;
}

void plan_work_close(plan_work *work) {
    braid_plan_destroy(work->plan);
    braid_model_destroy(work->model);
    braid_context_destroy(work->context);
    braid_net_destroy(work->net);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static braid_status add_memory(const plan_work *work, braid_report *report) {
    char text[200];
    braid_plan_memory use;
    braid_plan_memory_use(work->plan, &use);
    snprintf(text, sizeof text,
             "%.1f MB placed for activations and workspace, %.1f MB if nothing shared memory (%.0f %%)",
             1e-6 * (double)use.arena_bytes, 1e-6 * (double)use.sum_bytes,
             use.sum_bytes ? 100 * (double)use.arena_bytes / (double)use.sum_bytes : 100);
    braid_status status = braid_report_add_text(report, "memory", "memory", text);
    snprintf(text, sizeof text, "%.1f MB of parameters and states, %.1f MB of gradients and optimiser",
             1e-6 * (double)use.model_bytes, 1e-6 * (double)use.training_bytes);
    if (!status) status = braid_report_add_text(report, "model_memory", "", text);
    if (!status) status = braid_report_add_number(report, "arena_bytes", NULL, (double)use.arena_bytes);
    if (!status) status = braid_report_add_number(report, "sum_bytes", NULL, (double)use.sum_bytes);
    if (!status) status = braid_report_add_number(report, "model_bytes", NULL, (double)use.model_bytes);
    return status ? status : braid_report_add_number(report, "training_bytes", NULL, (double)use.training_bytes);
}

/* ---- Steps --------------------------------------------------------------------------------- */

static const braid_column step_columns[] = {
    {.key = "step", .title = "step", .cell = BRAID_CELL_COUNT},
    {.key = "segment", .title = "segment"},
    {.key = "ms", .title = "ms", .cell = BRAID_CELL_NUMBER},
    {.key = "share", .title = "share", .cell = BRAID_CELL_PERCENT},
    {.key = "covers", .title = "ops", .cell = BRAID_CELL_COUNT},
    {.key = "waits_for", .title = "waits", .cell = BRAID_CELL_COUNT, .optional = 2},
    {.key = "problem", .title = "problem"},
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "why", .title = "why"},
};
#define STEP_COLUMNS ((int)(sizeof step_columns / sizeof step_columns[0]))

static const char *segment_name(const braid_step_info *info) {
    if (info->made_again) return "again";
    return info->segment == BRAID_SEGMENT_FORWARD    ? "forward"
           : info->segment == BRAID_SEGMENT_BACKWARD ? "backward"
                                                     : "update";
}

static braid_status add_step(braid_table *table, int index, const braid_step_info *info, double seconds, double total) {
    char problem[BRAID_PROBLEM_TEXT];
    braid_status status = braid_problem_print(info->problem, problem, sizeof problem);
    if (!status) status = braid_table_add_number(table, index);
    if (!status) status = braid_table_add_text(table, segment_name(info));
    if (!status) status = braid_table_add_number(table, seconds > 0 ? 1e3 * seconds : NAN);
    if (!status) status = braid_table_add_number(table, total > 0 ? seconds / total : NAN);
    if (!status) status = braid_table_add_number(table, info->natural);
    if (!status) status = braid_table_add_number(table, info->depends_on);
    if (!status) status = braid_table_add_text(table, problem);
    if (!status) status = braid_table_add_text(table, info->kernel);
    return status ? status : braid_table_add_text(table, info->race->why);
}

static double step_seconds(const braid_plan *plan, int index, const double *seconds) {
    braid_step_info info;
    if (seconds) return seconds[index];
    return braid_plan_step(plan, index, &info) ? 0 : info.seconds;
}

static braid_status make_steps(const braid_plan *plan, const double *seconds, braid_table **table) {
    double total = 0;
    int count = braid_plan_step_count(plan);
    for (int j = 0; j < count; j++) total += step_seconds(plan, j, seconds);
    braid_status status = braid_table_create(step_columns, STEP_COLUMNS, table);
    for (int j = 0; j < count && !status; j++) {
        braid_step_info info;
        status = braid_plan_step(plan, j, &info);
        if (!status) status = add_step(*table, j, &info, step_seconds(plan, j, seconds), total);
    }
    if (!status) return BRAID_OK;
    braid_table_destroy(*table);
    *table = NULL;
    return status;
}

/* How the work is divided: which kinds of kernel do it, and how many ops each call stands for. */
static braid_status add_summary(const plan_work *work, const double *seconds, braid_report *report) {
    int count = braid_plan_step_count(work->plan), kinds[BRAID_KIND_CHAIN + 1] = {0}, natural = 0;
    double total = 0;
    char text[200];
    for (int j = 0; j < count; j++) {
        braid_step_info info;
        if (braid_plan_step(work->plan, j, &info)) continue;
        natural += info.natural;
        total += step_seconds(work->plan, j, seconds);
        if (info.race->winner >= 0) kinds[info.race->candidates[info.race->winner].kind]++;
    }
    snprintf(text, sizeof text, "%d calls; %d ops of the network; kernels: %d own, %d vendor, %d chains, %d reference",
             count, natural, kinds[BRAID_KIND_OWN], kinds[BRAID_KIND_VENDOR], kinds[BRAID_KIND_CHAIN],
             kinds[BRAID_KIND_REF]);
    braid_status status = braid_report_add_text(report, "calls", "calls", text);
    if (status || total <= 0) return status;
    snprintf(text, sizeof text, "%.2f ms, %s", 1e3 * total, seconds ? "measured step by step" : "the sum of the races");
    status = braid_report_add_text(report, "time", "time", text);
    return status ? status : braid_report_add_number(report, "ms", NULL, 1e3 * total);
}

braid_status plan_report_fill(const plan_work *work, const double *seconds, braid_report *report) {
    braid_table *steps = NULL;
    char parameters[80];
    const char *description = braid_net_describe(work->net);
    snprintf(parameters, sizeof parameters, "%lld in %d tensors", (long long)braid_net_parameter_count(work->net),
             braid_net_tensor_count(work->net));
    braid_status status = braid_report_add_text(report, "network", "network", description ? description : "built");
    if (!status) status = braid_report_add_text(report, "parameters", "parameters", parameters);
    if (!status) status = braid_report_add_text(report, "device", "device", braid_context_device(work->context));
    if (!status) status = add_memory(work, report);
    if (!status) status = add_summary(work, seconds, report);
    if (!status) status = make_steps(work->plan, seconds, &steps);
    return status ? status : braid_report_add_table(report, "steps", NULL, steps);
}
