/*
 * Weight packs as steps. A kernel that lays weights out anew before it works with them (pack and run of kernel.h) is
 * two steps of a plan, side by side, so that a profile shows what the packing takes. In a plan for evaluation a pack of
 * parameters has a place of its own, and is made again only when the parameters have changed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "plan/plan.h"

static int is_packed(const step *s) { return s->op->kernel->functions->pack != NULL; }

/* 1 where all that the pack of call j reads are parameters of the model. */
static int packs_parameters(const braid_plan *plan, int j) {
    const call *c = &plan->program.calls[j];
    const kernel_functions *f = plan->steps[j].op->kernel->functions;
    if (!f->pack) return 0;
    for (int slot = 0; slot < op_operand_count(op_of(&c->problem)); slot++) {
        if (!(f->pack_reads & KERNEL_SLOT(slot)) || op_role(&c->problem, slot) == ROLE_NONE) continue;
        for (int i = 0; i < op_of(&c->problem)->planes(&c->problem, slot); i++) {
            const tensor *t = &plan->program.tensors[c->tensor[slot][i]];
            if (t->home != HOME_MODEL || plan->model->graph->planes[t->plane].kind != PLANE_PARAMETER) return 0;
        }
    }
    return 1;
}

void plan_keep_packs(braid_plan *plan) {
    program *p = &plan->program;
    for (int j = 0; j < p->call_count && p->options.phase == BRAID_PHASE_EVAL; j++)
        p->calls[j].keeps = packs_parameters(plan, j);
}

static void split(const step *whole, int is_kept, step *to) {
    to[0] = (step){.part = STEP_PACK,
                   .op = whole->op,
                   .buffers = whole->buffers,
                   .segment = whole->segment,
                   .made_again = whole->made_again,
                   .depends_on = whole->depends_on,
                   .is_kept = is_kept};
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
            split(s, j < plan->program.call_count && plan->program.calls[j].keeps, steps + count++);
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
