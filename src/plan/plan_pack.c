/*
 * Weight packs as steps. A kernel that lays weights out anew before it works with them (pack and run of kernel.h) is
 * two steps of a plan, side by side, so that a profile shows what the packing takes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "plan/plan.h"

static int is_packed(const step *s) { return s->op->kernel->functions->pack != NULL; }

static void split(const step *whole, step *to) {
    to[0] = (step){.part = STEP_PACK,
                   .op = whole->op,
                   .buffers = whole->buffers,
                   .segment = whole->segment,
                   .made_again = whole->made_again,
                   .depends_on = whole->depends_on};
    to[1] = *whole;
    to[1].part = STEP_RUN;
}

braid_status plan_split_packs(braid_plan *plan) {
    step *steps = NULL;
    size_t count = 0;
    for (int j = 0; j < plan->step_count; j++) count += is_packed(&plan->steps[j]) ? 2 : 1;
    TRY(memory_calloc(count + 1, sizeof *steps, "plan", (void **)&steps));
    count = 0;
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        if (is_packed(s))
            split(s, steps + count++);
        else
            steps[count] = *s;
        count++;
    }
    memory_free(plan->steps);
    plan->steps = steps;
    plan->step_room = count + 1;
    plan->step_count = (int)count;
    return BRAID_OK;
}

braid_status plan_run_step(const braid_plan *plan, const step *s) {
    const kernel_functions *f = s->op->kernel->functions;
    device *d = plan->model->context->device;
    if (s->part == STEP_LAUNCH) return kernel_launch(f, &s->op->problem, d, s->op->state, &s->buffers);
    return (s->part == STEP_PACK ? f->pack : f->run)(&s->op->problem, d, s->op->state, &s->buffers);
}

int step_touches(const step *s, int slot) {
    if (op_role(&s->op->problem, slot) == ROLE_NONE) return 0;
    return s->part != STEP_PACK || (s->op->kernel->functions->pack_reads & KERNEL_SLOT(slot)) != 0;
}
