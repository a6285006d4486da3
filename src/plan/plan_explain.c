/*
 * What a plan tells of itself: its steps and its memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "plan/plan.h"

int braid_plan_step_count(const braid_plan *plan) { return plan ? plan->step_count : 0; }

/* Seconds of the chosen kernel, as measured; 0 where a run of all segments does without the step. */
static double seconds_of(const step *s) {
    const unsigned all = BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE;
    const race *r = &s->op->race;
    return s->part == STEP_PACK || r->winner < 0 || !step_runs(s, all) ? 0 : r->racers[r->winner].median;
}

static int launches_of(const step *s) { return s->queued.kernels + s->queued.copies + s->queued.zeros; }

/* A step that adds parts has a kernel of its own; its problem is that of the last call whose parts it adds. */
static void tell_sums(const step *s, braid_step_info *info) {
    static const braid_race none = {.winner = -1, .why = "adds the parts that steps before it left"};
    *info = (braid_step_info){.problem = &s->op->problem,
                              .race = &none,
                              .kernel = s->op->kernel->functions->adder->name,
                              .segment = s->segment,
                              .depends_on = s->depends_on,
                              .launches = launches_of(s),
                              .layout_copies = s->queued.rearranging};
}

braid_status braid_plan_step(const braid_plan *plan, int index, braid_step_info *info) {
    if (!plan || !info) return fail(BRAID_ERROR_ARGUMENT, "braid_plan_step: expected a plan and a place, got NULL");
    if (index < 0 || index >= plan->step_count)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_step: expected a step from 0 to %d, got %d", plan->step_count - 1,
                    index);
    const step *s = &plan->steps[index];
    if (s->part == STEP_SUMS) {
        tell_sums(s, info);
        return BRAID_OK;
    }
    *info = (braid_step_info){.problem = &s->op->problem,
                              .race = &s->op->seen,
                              .kernel = s->op->kernel->name,
                              .segment = s->segment,
                              .natural = s->natural,
                              .made_again = s->made_again,
                              .depends_on = s->depends_on,
                              .seconds = seconds_of(s),
                              .launches = launches_of(s),
                              .layout_copies = s->queued.rearranging,
                              .is_pack = s->part == STEP_PACK};
    return BRAID_OK;
}

int braid_plan_keeps_all(const braid_plan *plan) { return plan && plan->program.options.keep_all ? 1 : -1; }

void braid_plan_memory_use(const braid_plan *plan, braid_plan_memory *use) {
    if (!plan || !use) return;
    *use = (braid_plan_memory){.arena_bytes = plan->program.arena_bytes,
                               .sum_bytes = plan->program.sum_bytes,
                               .model_bytes = model_bytes(plan->model),
                               .training_bytes = model_training_bytes(plan->model)};
}
