/*
 * Calls of a plan in groups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Few words ------------------------------------------------------------------------------ */

static int means(const char *text, const char *canonical) {
    braid_problem problem;
    char printed[BRAID_PROBLEM_TEXT];
    return !braid_problem_parse(text, &problem) && !braid_problem_print(&problem, printed, sizeof printed) &&
           !strcmp(printed, canonical);
}

/* How much of a field's text is needed where all numbers of its list are one: c64,64,64 as c64. */
static size_t one_of_list(const char *field, size_t length) {
    size_t digits = strcspn(field, "0123456789:"), first = strcspn(field, ",:");
    if (first >= length || digits >= first) return length;
    size_t number = first - digits;
    for (size_t at = first; at < length; at += number + 1) {
        if (at + 1 + number > length || field[at] != ',' || strncmp(field + at + 1, field + digits, number) != 0)
            return length;
    }
    return first;
}

/* Leaves `length` letters of the field at `field` out of the text, from its letter `from` on, where it still means the
 * same. */
static void leave_out(char *text, size_t field, size_t from, size_t length, const char *canonical) {
    char tried[BRAID_PROBLEM_TEXT];
    snprintf(tried, sizeof tried, "%.*s%s", (int)(field + from), text, text + field + from + length);
    if (length && means(tried, canonical)) memcpy(text, tried, strlen(tried) + 1);
}

void problem_shorten(const braid_problem *problem, char text[BRAID_PROBLEM_TEXT]) {
    char canonical[BRAID_PROBLEM_TEXT];
    text[0] = 0;
    if (braid_problem_print(problem, canonical, sizeof canonical)) return;
    memcpy(text, canonical, strlen(canonical) + 1);
    for (char *colon = strrchr(text, ':'); colon;) {
        size_t field = (size_t)(colon - text) + 1, length = strcspn(text + field, ":");
        size_t needed = one_of_list(text + field, length);
        leave_out(text, field, needed, length - needed, canonical);
        leave_out(text, field - 1, 0, strcspn(text + field, ":") + 1, canonical);
        for (colon = text + field - 2; colon > text && *colon != ':';) colon--;
        if (colon <= text) break;
    }
}

/* The fastest candidate of a kind that has a time, except the winner; NULL: none. */
static const braid_candidate *fastest(const braid_race *race, braid_kind kind) {
    const braid_candidate *found = NULL;
    for (int i = 0; i < race->count; i++) {
        const braid_candidate *c = &race->candidates[i];
        if (i == race->winner || c->kind != kind || c->reason || c->median_s <= 0) continue;
        if (!found || c->median_s < found->median_s) found = c;
    }
    return found;
}

/* A kernel's name without what stands beside it anyway: the op, the pass and the device. */
static const char *short_name(const char *kernel) {
    static const char *const devices[] = {"cpu_", "cuda_"};
    const char *rest = strstr(kernel, "__");
    if (!rest) return kernel;
    rest += 2;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (!strncmp(rest, devices[i], strlen(devices[i]))) return rest + strlen(devices[i]);
    return rest;
}

void race_shorten(const braid_race *race, char *text, size_t room) {
    static const braid_kind order[] = {BRAID_KIND_VENDOR, BRAID_KIND_CHAIN, BRAID_KIND_OWN, BRAID_KIND_REF};
    const braid_candidate *winner = race->winner >= 0 ? &race->candidates[race->winner] : NULL, *other = NULL;
    for (size_t i = 0; winner && !other && i < sizeof order / sizeof order[0]; i++) other = fastest(race, order[i]);
    if (!winner || winner->median_s <= 0)
        snprintf(text, room, "by the cost model");
    else if (!other)
        snprintf(text, room, "the only candidate");
    else
        snprintf(text, room, "%.2fx %s%s", other->median_s / winner->median_s, short_name(other->kernel),
                 winner->kind == BRAID_KIND_VENDOR && winner->median_s > other->median_s ? " (tied)" : "");
}

/* ---- Groups --------------------------------------------------------------------------------- */

const char *step_segment_name(const braid_step_info *info) {
    if (info->made_again) return "again";
    return info->segment == BRAID_SEGMENT_FORWARD    ? "forward"
           : info->segment == BRAID_SEGMENT_BACKWARD ? "backward"
                                                     : "update";
}

int step_adds_parts(const braid_step_info *info) { return info->race->count == 0; }

const char *step_part_name(const braid_step_info *info) {
    return info->is_pack ? "pack" : step_adds_parts(info) ? "sums" : NULL;
}

double step_seconds(const braid_plan *plan, int index, const double *seconds) {
    braid_step_info info;
    if (seconds) return seconds[index];
    return braid_plan_step(plan, index, &info) ? 0 : info.seconds;
}

typedef struct group {
    braid_step_info info; /* of the first call */
    int calls;
    double seconds;              /* of all calls */
    int launches, layout_copies; /* of all calls */
    double bytes, flops;         /* of all calls */
} group;

static int costlier(const void *a, const void *b) {
    const group *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static int same_group(const group *g, const braid_step_info *info) {
    return g->info.problem == info->problem && g->info.is_pack == info->is_pack &&
           step_adds_parts(&g->info) == step_adds_parts(info) &&
           !strcmp(step_segment_name(&g->info), step_segment_name(info));
}

/* Fills groups, of which there is room for every step. Returns how many there are. */
static int gather(const braid_plan *plan, const double *seconds, group *groups) {
    int count = 0;
    for (int j = 0; j < braid_plan_step_count(plan); j++) {
        braid_step_info info;
        int at = 0;
        if (braid_plan_step(plan, j, &info) || (seconds && seconds[j] <= 0)) continue; /* it was not in that run */
        while (at < count && !same_group(&groups[at], &info)) at++;
        if (at == count) groups[count++] = (group){.info = info};
        groups[at].calls++;
        groups[at].seconds += step_seconds(plan, j, seconds);
        groups[at].launches += info.launches;
        groups[at].layout_copies += info.layout_copies;
        groups[at].bytes += info.is_pack ? 0 : info.race->bytes;
        groups[at].flops += info.is_pack ? 0 : info.race->flops;
    }
    qsort(groups, (size_t)count, sizeof *groups, costlier);
    return count;
}

static const braid_column group_columns[] = {
    {.key = "calls", .title = "calls", .cell = BRAID_CELL_COUNT},
    {.key = "segment", .title = "segment"},
    {.key = "problem", .title = "problem"},
    {.key = "kernel", .title = "kernel"},
    {.key = "part", .title = "part"},
    {.key = "ms", .title = "ms each", .cell = BRAID_CELL_NUMBER, .optional = 1},
    {.key = "total_ms", .title = "ms", .cell = BRAID_CELL_NUMBER},
    {.key = "share", .title = "share", .cell = BRAID_CELL_PERCENT},
    {.key = "why", .title = "against"},
    /* of a profile alone */
    {.key = "bytes", .cell = BRAID_CELL_BYTES},
    {.key = "gbs", .title = "GB/s", .cell = BRAID_CELL_NUMBER, .optional = 3},
    {.key = "tflops", .title = "TFLOP/s", .cell = BRAID_CELL_NUMBER, .optional = 3},
    {.key = "roofline", .title = "roof", .cell = BRAID_CELL_PERCENT, .optional = 2},
    {.key = "launches", .title = "launches", .cell = BRAID_CELL_COUNT, .optional = 2},
    {.key = "layout_copies", .title = "copies", .cell = BRAID_CELL_COUNT, .optional = 3},
};
#define PROFILE_COLUMNS ((int)(sizeof group_columns / sizeof group_columns[0]))
#define GROUP_COLUMNS (PROFILE_COLUMNS - 6)

static double known(double seconds) { return seconds > 0 ? seconds : NAN; }

/* The least time of a group by the device's ceilings; NaN where they are not known. */
static double roofline_s(const group *g, const braid_ceilings *c) {
    if (c->copy_bytes_per_s <= 0 || c->gemm_flops_per_s <= 0) return NAN;
    return fmax(g->bytes / c->copy_bytes_per_s, g->flops / c->gemm_flops_per_s);
}

static braid_status add_measured(braid_table *table, const group *g, const plan_figures *f) {
    const int is_mixed = !g->info.race; /* add_others */
    const int has_work = is_mixed || (!g->info.is_pack && !step_adds_parts(&g->info));
    const double seconds = known(g->seconds), bytes = has_work ? g->bytes : NAN, flops = has_work ? g->flops : NAN;
    const double least = has_work ? roofline_s(g, &f->ceilings) : NAN, unknown = g->launches ? 0 : NAN;
    const double numbers[] = {bytes,           1e-9 * bytes / seconds,        1e-12 * flops / seconds,
                              least / seconds, (double)g->launches + unknown, (double)g->layout_copies + unknown};
    braid_status status = BRAID_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !status; i++)
        status = braid_table_add_number(table, numbers[i]);
    return status;
}

static braid_status add_numbers(braid_table *table, const group *g, double total, const char *why) {
    braid_status status = braid_table_add_number(table, 1e3 * known(g->seconds / g->calls));
    if (!status) status = braid_table_add_number(table, 1e3 * known(g->seconds));
    if (!status) status = braid_table_add_number(table, g->seconds > 0 ? g->seconds / total : NAN);
    return status ? status : braid_table_add_text(table, why);
}

static braid_status add_group(braid_table *table, const group *g, double total, const plan_figures *f) {
    char problem[BRAID_PROBLEM_TEXT], why[80];
    problem_shorten(g->info.problem, problem);
    race_shorten(g->info.race, why, sizeof why);
    braid_status status = braid_table_add_number(table, g->calls);
    if (!status) status = braid_table_add_text(table, step_segment_name(&g->info));
    if (!status) status = braid_table_add_text(table, problem);
    if (!status) status = braid_table_add_text(table, short_name(g->info.kernel));
    if (!status) status = braid_table_add_text(table, step_part_name(&g->info));
    if (!status) status = add_numbers(table, g, total, step_part_name(&g->info) ? NULL : why);
    return status || !f->seconds ? status : add_measured(table, g, f);
}

/* One row for all groups from `first` on. */
static braid_status add_others(braid_table *table, const group *groups, int first, int count, const plan_figures *f) {
    char text[80];
    double total = 0;
    group all = {0};
    for (int j = 0; j < count; j++) total += groups[j].seconds;
    for (int j = first; j < count; j++) {
        all.calls += groups[j].calls;
        all.seconds += groups[j].seconds;
        all.launches += groups[j].launches;
        all.layout_copies += groups[j].layout_copies;
        all.bytes += groups[j].bytes;
        all.flops += groups[j].flops;
    }
    snprintf(text, sizeof text, "%d others (-v lists them)", count - first);
    braid_status status = braid_table_add_number(table, all.calls);
    if (!status) status = braid_table_add_text(table, NULL);
    if (!status) status = braid_table_add_text(table, text);
    if (!status) status = braid_table_add_text(table, NULL);
    if (!status) status = braid_table_add_text(table, NULL);
    if (!status) status = add_numbers(table, &all, total, NULL);
    return status || !f->seconds ? status : add_measured(table, &all, f);
}

braid_status plan_groups_table(const braid_plan *plan, const plan_figures *figures, int most, braid_table **table) {
    double total = 0;
    *table = NULL;
    group *groups = calloc((size_t)braid_plan_step_count(plan) + 1, sizeof *groups);
    if (!groups) return BRAID_ERROR_MEMORY;
    int count = gather(plan, figures->seconds, groups), shown = most && count > most + 1 ? most : count;
    for (int j = 0; j < count; j++) total += groups[j].seconds;
    braid_status status = braid_table_create(group_columns, figures->seconds ? PROFILE_COLUMNS : GROUP_COLUMNS, table);
    for (int j = 0; j < shown && !status; j++) status = add_group(*table, &groups[j], total, figures);
    if (!status && shown < count) status = add_others(*table, groups, shown, count, figures);
    free(groups);
    if (!status) return BRAID_OK;
    braid_table_destroy(*table);
    *table = NULL;
    return status;
}
