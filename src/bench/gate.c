/*
 * The gate: is the kernel that was chosen slower than the fastest vendor candidate? The race that chose
 * it cannot answer that, because its winner was picked by its own numbers; a fresh race can. A choice
 * that the fresh race finds slower beyond its noise gives way to that race's own, as it does in wisdom,
 * which must then be confirmed in turn. The gate fails where GATE_RACES races confirm none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "bench/bench.h"

#define GATE_RACES 4

static const braid_candidate *candidate_named(const braid_race *race, const char *kernel) {
    for (int i = 0; i < race->count; i++)
        if (!strcmp(race->candidates[i].kernel, kernel)) return &race->candidates[i];
    return NULL;
}

/* 1: not slower, -1: slower beyond noise, 0: no vendor candidate has a time, or other work ran beside the race. */
static int race_once(const braid_race *race, const char *chosen_kernel, double *ratio) {
    const braid_candidate *chosen = candidate_named(race, chosen_kernel);
    if (race->is_busy || race->baseline < 0 || race->candidates[race->baseline].kind != BRAID_KIND_VENDOR) return 0;
    if (!chosen || chosen->median_s <= 0) return -1;
    *ratio = chosen->ratio;
    return judge_speed(chosen->ratio, chosen->ratio_low, chosen->ratio_high) == BRAID_VERDICT_SLOW ? -1 : 1;
}

braid_status gate(const braid_bench *bench, braid_op *op, braid_bench_result *result) {
    if (result->chosen < 0 || result->baseline < 0 || result->rows[result->baseline].kind != BRAID_KIND_VENDOR)
        return BRAID_OK;
    const char *kernel = result->rows[result->chosen].kernel;
    result->gate = -1;
    for (int i = 0; i < GATE_RACES && result->gate < 0; i++) {
        LAB_TRY(bench_plan(bench, op, 1));
        const braid_race *race = braid_op_explain(op);
        result->gate = race_once(race, kernel, &result->gate_ratio);
        if (race->winner >= 0) kernel = race->candidates[race->winner].kernel;
    }
    return BRAID_OK;
}
