/*
 * Plans as reports.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SECONDS 0.01 /* of races; 0 would mean no limit */

/* What a network is usually planned at, where nothing is said. */
static int default_shape(const char *name, braid_plan_request *r) {
    int images = strncmp(name, "ssae", 4) != 0 && strncmp(name, "mlp", 3) != 0, lenet = !strcmp(name, "lenet86");
    if (!r->batch) r->batch = images ? 2 : 256;
    if (!images && r->size[0])
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected none, %s takes rows of numbers", name);
    if (lenet && r->size[0] && (r->size[0] != 86 || r->size[1] != 86))
        return complain(BRAID_ERROR_ARGUMENT, "--size: expected 86x86 for lenet86, got %lldx%lld",
                        (long long)r->size[0], (long long)r->size[1]);
    if (!images || r->size[0]) return 0;
    r->size[0] = lenet ? 86 : 208;
    r->size[1] = lenet ? 86 : 272;
    return 0;
}

/* "linet18, batch 2, 208x272, f32, a training step with AdamW" */
static void print_shape(const char *name, const plan_wish *wish, const braid_plan_request *r,
                        char text[PLAN_SHAPE_TEXT]) {
    char size[48] = "";
    if (r->size[0]) snprintf(size, sizeof size, ", %lldx%lld", (long long)r->size[0], (long long)r->size[1]);
    snprintf(text, PLAN_SHAPE_TEXT, "%s, batch %lld%s, %s, %s", name, (long long)r->batch, size,
             network_dtype_name(wish->network),
             r->phase == BRAID_PHASE_EVAL ? "a forward pass"
             : r->optimiser               ? "a training step with AdamW"
                                          : "forward, loss and backward");
}

static int show_planning(void *user, const braid_problem *problem, int index, int count) {
    progress *bar = user;
    char text[BRAID_PROBLEM_TEXT];
    problem_shorten(problem, text);
    bar->total = count;
    progress_step(bar, index, text);
    return interrupted();
}

int plan_work_open(const char *name, const plan_wish *wish, plan_work *work) {
    progress bar;
    braid_plan_request r = {.phase = wish->phase,
                            .batch = wish->network->batch,
                            .optimiser = wish->optimiser,
                            .choice = wish->choice,
                            .progress = show_planning,
                            .user = &bar};
    const braid_model_options model = network_model(wish->network);
    char kind[64];
    *work = (plan_work){0};
    progress_begin(&bar, 0, wish->common->quiet);
    int code = network_size(wish->network, r.size);
    if (!code) code = network_open(name, wish->network, &work->net);
    if (!code && wish->network->file) {
        network_kind(work->net, kind, sizeof kind);
        name = kind;
    }
    if (!code) code = default_shape(name, &r);
    if (!code) code = context_open(wish->common, &work->context);
    if (code) return code;
    print_shape(name, wish, &r, work->shape);
    braid_status status = braid_model_create(work->context, work->net, &model, &work->model);
    if (r.choice.all && r.choice.seconds > 0) { /* a limit of all that is done, from here back to the first line */
        double left = r.choice.seconds - (clock_s() - bar.started_s);
        r.choice.seconds = left > LEAST_SECONDS ? left : LEAST_SECONDS;
    }
    if (!status) status = braid_plan_create(work->model, &r, &work->plan);
    progress_clear(&bar);
    work->updates = wish->optimiser != BRAID_OPTIMISER_NONE;
    work->planning_s = clock_s() - bar.started_s;
    return status ? complain_braid(status) : 0;
}

void plan_work_close(plan_work *work) {
    braid_plan_destroy(work->plan);
    braid_model_destroy(work->model);
    braid_context_destroy(work->context);
    braid_net_destroy(work->net);
}

/* Numbers from -1 to 1, the same every time. */
static void fill_random(void *data, size_t count, int is_double) {
    uint32_t state = 1;
    for (size_t j = 0; j < count; j++) {
        state = state * 1664525u + 1013904223u;
        double value = (double)(state >> 8) / (1 << 23) - 1;
        if (is_double)
            ((double *)data)[j] = value;
        else
            ((float *)data)[j] = (float)value;
    }
}

static int fill_stream(plan_work *work, int stream) {
    const char *name = braid_net_stream(work->net, stream, NULL);
    braid_operand_info info = {0};
    void *memory;
    braid_status status = braid_plan_tensor(work->plan, name, &info, &memory);
    int is_double = info.dtype == BRAID_DTYPE_F64;
    size_t count = 1, each = is_double ? sizeof(double) : sizeof(float);
    if (status) return complain_braid(status);
    for (int axis = 0; axis < info.rank; axis++) count *= (size_t)info.dims[0][axis]; /* fits: it was allocated */
    void *data = calloc(count + 1, each);
    if (!data) return complain(BRAID_ERROR_MEMORY, "no memory for %zu numbers of %s", count, name);
    fill_random(data, count, is_double);
    status = braid_plan_set_input(work->plan, name, data, count * each);
    free(data);
    return status ? complain_braid(status) : 0;
}

int plan_work_fill(plan_work *work) {
    const braid_rates rates = {.learning_rate = 1e-9, .active = 1};
    int code = 0;
    for (int i = 0; i < braid_net_stream_count(work->net) && !code; i++) code = fill_stream(work, i);
    for (int g = 0; work->updates && g < braid_plan_group_count(work->plan) && !code; g++) {
        braid_status status = braid_plan_set_rates(work->plan, g, &rates);
        if (status) code = complain_braid(status);
    }
    return code;
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
    {.key = "ops", .title = "ops", .cell = BRAID_CELL_COUNT},
    {.key = "waits_for", .title = "waits", .cell = BRAID_CELL_COUNT, .optional = 2},
    {.key = "problem", .title = "problem"},
    {.key = "kernel", .title = "kernel", .keep_end = 1},
    {.key = "architecture", .title = "needs"},
    {.key = "part", .title = "part"},
    {.key = "why", .title = "why"},
};
#define STEP_COLUMNS ((int)(sizeof step_columns / sizeof step_columns[0]))
#define PACK_REASON "lays out the weights for the next step"

static braid_status add_step(braid_table *table, int index, const braid_step_info *info, double seconds, double total) {
    char problem[BRAID_PROBLEM_TEXT];
    braid_status status = braid_problem_print(info->problem, problem, sizeof problem);
    if (!status) status = braid_table_add_number(table, index);
    if (!status) status = braid_table_add_text(table, step_segment_name(info));
    if (!status) status = braid_table_add_number(table, seconds > 0 ? 1e3 * seconds : NAN);
    if (!status) status = braid_table_add_number(table, total > 0 ? seconds / total : NAN);
    if (!status) status = braid_table_add_number(table, info->natural);
    if (!status) status = braid_table_add_number(table, info->depends_on);
    if (!status) status = braid_table_add_text(table, problem);
    if (!status) status = braid_table_add_text(table, info->kernel);
    if (!status) status = braid_table_add_text(table, braid_kernel_architecture(info->kernel));
    if (!status) status = braid_table_add_text(table, step_part_name(info));
    return status ? status : braid_table_add_text(table, info->is_pack ? PACK_REASON : info->race->why);
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

/* ---- Summary ------------------------------------------------------------------------------- */

/* What the calls of a plan add up to. */
typedef struct totals {
    int launches, layout_copies;
    int calls, packs, sums, natural, timed, forward, backward, problems, remembered, again, kinds[BRAID_KIND_CHAIN + 1];
    double seconds, pack_seconds, sum_seconds, kind_seconds[BRAID_KIND_CHAIN + 1];
    /* calls where a vendor kernel, or the chain of a fused op, was timed too: its seconds and those of the choice */
    int against_calls[2];
    double against[2], chosen[2];
} totals;

/* Seconds of the fastest candidate of a kind; 0: none has a time. */
static double fastest_of(const braid_race *race, braid_kind kind) {
    double best = 0;
    for (int i = 0; i < race->count; i++) {
        const braid_candidate *c = &race->candidates[i];
        if (c->kind == kind && !c->reason && c->median_s > 0 && (best <= 0 || c->median_s < best)) best = c->median_s;
    }
    return best;
}

static int seen_before(const braid_plan *plan, int index, const braid_problem *problem) {
    braid_step_info info;
    for (int j = 0; j < index; j++)
        if (!braid_plan_step(plan, j, &info) && !info.is_pack && info.problem == problem) return 1;
    return 0;
}

static void add_up_race(const braid_race *race, totals *t) {
    double chosen = race->winner >= 0 ? race->candidates[race->winner].median_s : 0;
    const double others[] = {fastest_of(race, BRAID_KIND_VENDOR), fastest_of(race, BRAID_KIND_CHAIN)};
    for (int i = 0; i < 2 && chosen > 0; i++) {
        if (others[i] <= 0) continue;
        t->against_calls[i]++;
        t->against[i] += others[i];
        t->chosen[i] += chosen;
        break;
    }
}

static void add_up_pack(const braid_step_info *info, double seconds, totals *t) {
    t->packs++;
    t->seconds += seconds;
    t->pack_seconds += seconds;
    if (info->race->winner >= 0) t->kind_seconds[info->race->candidates[info->race->winner].kind] += seconds;
}

static void add_up_sums(const braid_step_info *info, double seconds, totals *t) {
    t->sums++;
    t->launches += info->launches;
    t->seconds += seconds;
    t->sum_seconds += seconds;
    t->kind_seconds[BRAID_KIND_OWN] += seconds;
}

static totals add_up(const braid_plan *plan, const double *seconds) {
    totals t = {0};
    for (int j = 0; j < braid_plan_step_count(plan); j++) {
        braid_step_info info;
        if (braid_plan_step(plan, j, &info)) continue;
        double each = step_seconds(plan, j, seconds);
        if (info.is_pack) {
            add_up_pack(&info, each, &t);
            continue;
        }
        if (step_adds_parts(&info)) {
            add_up_sums(&info, each, &t);
            continue;
        }
        t.calls++;
        t.natural += info.segment == BRAID_SEGMENT_FORWARD ? info.natural : 0;
        t.again += info.made_again;
        t.launches += info.launches;
        t.layout_copies += info.layout_copies;
        t.seconds += each;
        t.timed += each > 0;
        t.forward += info.segment == BRAID_SEGMENT_FORWARD;
        t.backward += info.segment == BRAID_SEGMENT_BACKWARD && !info.made_again;
        if (!seen_before(plan, j, info.problem)) {
            t.problems++;
            t.remembered += info.race->from_wisdom;
        }
        if (info.race->winner < 0) continue;
        braid_kind kind = info.race->candidates[info.race->winner].kind;
        t.kinds[kind]++;
        t.kind_seconds[kind] += each;
        add_up_race(info.race, &t);
    }
    return t;
}

plan_problems plan_count_problems(const braid_plan *plan) {
    plan_problems p = {0};
    for (int j = 0; j < braid_plan_step_count(plan); j++) {
        braid_step_info info;
        if (braid_plan_step(plan, j, &info) || info.is_pack || step_adds_parts(&info)) continue;
        if (seen_before(plan, j, info.problem)) continue;
        const braid_race *race = info.race;
        int is_timed = race->winner >= 0 && race->candidates[race->winner].median_s > 0;
        p.all++;
        p.remembered += race->from_wisdom;
        p.measured += is_timed && !race->from_wisdom;
        p.untimed += !is_timed && !race->from_wisdom;
    }
    return p;
}

/* "own 61 (72 %)" for every kind of kernel that is used. */
static void print_kinds(const totals *t, char *text, size_t room) {
    size_t used = 0;
    text[0] = 0;
    for (int kind = 0; kind <= BRAID_KIND_CHAIN && used < room; kind++) {
        if (!t->kinds[kind]) continue;
        int wrote = snprintf(text + used, room - used, "%s%d %s", used ? ", " : "", t->kinds[kind],
                             braid_kind_name((braid_kind)kind));
        if (wrote > 0) used += (size_t)wrote;
        if (t->seconds > 0 && used < room)
            wrote =
                snprintf(text + used, room - used, " (%.0f %% of the time)", 100 * t->kind_seconds[kind] / t->seconds);
        if (t->seconds > 0 && wrote > 0) used += (size_t)wrote;
    }
}

static braid_status add_against(const totals *t, braid_report *report) {
    static const char *const keys[] = {"against_vendor", "against_chain"};
    static const char *const words[] = {"the fastest vendor kernel of each alone", "the ops of the network one by one"};
    braid_status status = BRAID_OK;
    const char *title = "races";
    for (int i = 0; i < 2 && !status; i++) {
        char text[200];
        if (!t->against_calls[i]) continue;
        snprintf(text, sizeof text, "%.2fx on %d calls: %.4g ms chosen, %.4g ms by %s", t->against[i] / t->chosen[i],
                 t->against_calls[i], 1e3 * t->chosen[i], 1e3 * t->against[i], words[i]);
        status = braid_report_add_text(report, keys[i], title, text);
        title = "";
    }
    return status;
}

/* Of a GPU. */
static braid_status add_launches(const totals *t, braid_report *report) {
    char text[120];
    snprintf(text, sizeof text, "%d kernels, copies and zeros in the queue; %d of them only change a layout",
             t->launches, t->layout_copies);
    braid_status status = braid_report_add_text(report, "launches", "launches", text);
    if (!status) status = braid_report_add_number(report, "launch_count", NULL, t->launches);
    return status ? status : braid_report_add_number(report, "layout_copy_count", NULL, t->layout_copies);
}

static braid_status add_totals(const plan_work *work, const double *seconds, braid_report *report) {
    totals t = add_up(work->plan, seconds);
    char text[300];
    int update = t.calls - t.forward - t.backward - t.again;
    snprintf(text, sizeof text,
             "%d calls, %d problems: forward %d (for %d ops), again %d (saves memory), backward %d, update %d", t.calls,
             t.problems, t.forward, t.natural, t.again, t.backward, update);
    if (t.packs) snprintf(text + strlen(text), sizeof text - strlen(text), "; %d packs of weights", t.packs);
    if (t.sums) snprintf(text + strlen(text), sizeof text - strlen(text), "; %d sums of parts", t.sums);
    braid_status status = braid_report_add_text(report, "calls", "graph", text);
    print_kinds(&t, text, sizeof text);
    if (!status) status = braid_report_add_text(report, "kernels", "kernels", text);
    if (!status) status = add_against(&t, report);
    if (!status) status = braid_report_add_number(report, "problem_count", NULL, t.problems);
    if (!status) status = braid_report_add_number(report, "remembered_count", NULL, t.remembered);
    if (!status && t.launches > 0) status = add_launches(&t, report);
    if (status || t.seconds <= 0) return status;
    const char *source = seconds ? "measured call by call" : "the sum of the races";
    if (t.timed == t.calls)
        snprintf(text, sizeof text, "%.4g ms, %s", 1e3 * t.seconds, source);
    else
        snprintf(text, sizeof text, "%.4g ms, %s of %d calls; of the others no time is known", 1e3 * t.seconds, source,
                 t.timed);
    if (t.pack_seconds > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %.4g ms of them pack weights",
                 1e3 * t.pack_seconds);
    if (t.sum_seconds > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %.4g ms of them add parts", 1e3 * t.sum_seconds);
    status = braid_report_add_text(report, "time", "time", text);
    return status ? status : braid_report_add_number(report, "ms", NULL, 1e3 * t.seconds);
}

braid_status plan_report_summary(const plan_work *work, const plan_figures *figures, braid_report *report) {
    char parameters[80];
    const char *description = braid_net_describe(work->net);
    snprintf(parameters, sizeof parameters, "%lld in %d tensors", (long long)braid_net_parameter_count(work->net),
             braid_net_tensor_count(work->net));
    braid_status status = braid_report_add_text(report, "plan", "network", work->shape);
    if (!status) status = braid_report_add_text(report, "network", NULL, description);
    if (!status) status = braid_report_add_text(report, "parameters", "parameters", parameters);
    if (!status) status = braid_report_add_text(report, "device", "device", braid_context_device(work->context));
    if (!status) status = add_memory(work, report);
    return status ? status : add_totals(work, figures->seconds, report);
}

#define SHOWN_GROUPS 20

braid_status plan_report_calls(const plan_work *work, const plan_figures *figures, const common_options *common,
                               braid_report *report) {
    braid_table *table = NULL;
    braid_status status = BRAID_OK;
    int page = common->format == BRAID_FORMAT_TABLE || common->format == BRAID_FORMAT_MD;
    if (common->format != BRAID_FORMAT_CSV) {
        status = plan_groups_table(work->plan, figures, page && !common->verbose ? SHOWN_GROUPS : 0, &table);
        if (!status) status = braid_report_add_table(report, "problems", NULL, table);
    }
    if (status || (page && !common->verbose)) return status;
    status = make_steps(work->plan, figures->seconds, &table);
    return status ? status : braid_report_add_table(report, "steps", NULL, table);
}
