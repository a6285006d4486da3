/*
 * Sums of parts as steps. A kernel that makes its outputs of parts (kernel.h) has a second launch, which adds them.
 * Nobody needs the gradient of a parameter before the update, so the parts of several calls are added together: those
 * calls leave their parts, each in a workspace of its own, and one step behind the last of them adds all. Calls follow
 * each other in groups that take no more memory than calls one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "plan/plan.h"

#define FREE_BYTES ((size_t)64 << 20) /* an arena of so many bytes is not thought about */

/* ---- Groups --------------------------------------------------------------------------------- */

/* Output planes whose parts a call leaves; 0: it leaves none. */
static int planes_of(const step *s) {
    const kernel_functions *f = s->op->kernel->functions;
    return f->parts ? f->sums(&s->op->problem, s->op->state, NULL, NULL) : 0;
}

/* Calls from the first to the last of those whose parts are added together. */
typedef struct growing {
    const kernel_adder *adder;
    int first, last, calls, planes;
} growing;

/* Says what follows from a group: its calls hold their parts until the last of them, and the sums behind it, have
 * ended. */
static void hold_parts(braid_plan *plan, const int *planes, const growing *g, int number) {
    for (int j = g->first; j <= g->last; j++) {
        if (!planes[j]) continue;
        plan->steps[j].group = g->calls > 1 ? number : 0; /* one alone adds its own parts */
        plan->program.calls[j].holds = g->last - j + plan->program.calls[g->last].lag;
    }
}

static int has_room(const growing *g, const kernel_adder *adder, int planes) {
    return g->calls > 0 && g->calls < PLAN_GROUP_CALLS && adder == g->adder && g->planes + planes <= adder->most &&
           g->planes + planes <= PLAN_GROUP_PLANES;
}

/* Every call joins the group before it where its parts find room there and the arena is not larger than `most`. */
static braid_status make_groups(braid_plan *plan, const int *planes, size_t most) {
    growing g = {0};
    int number = 0;
    for (int j = 0; j < plan->program.call_count; j++) {
        const kernel_adder *adder = plan->steps[j].op->kernel->functions->adder;
        growing with = g;
        if (!planes[j]) continue;
        with.last = j;
        with.calls++;
        with.planes += planes[j];
        if (has_room(&g, adder, planes[j])) {
            hold_parts(plan, planes, &with, number);
            TRY(plan_place(plan));
            if (plan->program.arena_bytes <= most) {
                g = with;
                continue;
            }
            hold_parts(plan, planes, &g, number);
        }
        g = (growing){adder, j, j, 1, planes[j]};
        number++;
        hold_parts(plan, planes, &g, number);
    }
    return plan_place(plan);
}

braid_status plan_group_sums(braid_plan *plan) {
    const program *p = &plan->program;
    int *planes = NULL;
    TRY(memory_calloc((size_t)p->call_count + 1, sizeof *planes, "plan", (void **)&planes));
    for (int j = 0; j < p->call_count; j++) {
        int may_wait = p->calls[j].segment == BRAID_SEGMENT_BACKWARD && program_ends_in_gradients(p, j, p->call_count);
        planes[j] = may_wait ? planes_of(&plan->steps[j]) : 0;
    }
    braid_status status = plan_place(plan);
    const size_t apart = p->arena_bytes;
    if (!status) status = make_groups(plan, planes, apart > FREE_BYTES ? apart : FREE_BYTES);
    memory_free(planes);
    return status;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

int plan_summed_steps(const braid_plan *plan, const step *s, const step *members[PLAN_GROUP_CALLS]) {
    int count = 0;
    if (s->part != STEP_SUMS) return 0;
    for (const step *before = plan->steps + s->first_part; before < s; before++) {
        if (before->part == STEP_PARTS && before->group == s->group) members[count++] = before;
    }
    return count;
}

static int is_last(const braid_plan *plan, int j) {
    for (int k = j + 1; k < plan->step_count; k++) {
        if (plan->steps[k].group == plan->steps[j].group) return 0;
    }
    return 1;
}

/* The step that adds the parts of the group whose last step is the last of `steps`. */
static step sums_of(const step *steps, int count) {
    const step *last = &steps[count - 1];
    int first = count - 1, is_on_side = 1;
    for (int j = count - 1; j >= 0; j--) {
        if (steps[j].group != last->group) continue;
        first = j;
        is_on_side &= steps[j].is_on_side;
    }
    return (step){.part = STEP_SUMS,
                  .op = last->op,
                  .segment = last->segment,
                  .depends_on = last->depends_on,
                  .is_on_side = is_on_side,
                  .group = last->group,
                  .first_part = first};
}

braid_status plan_add_sums(braid_plan *plan) {
    step *steps = NULL;
    int count = 0, groups = 0;
    for (int j = 0; j < plan->step_count; j++) groups += plan->steps[j].group && is_last(plan, j);
    size_t room = (size_t)plan->step_count + (size_t)groups + 1;
    TRY(memory_calloc(room, sizeof *steps, "plan", (void **)&steps));
    for (int j = 0; j < plan->step_count; j++) {
        steps[count] = plan->steps[j];
        if (plan->steps[j].group) steps[count].part = STEP_PARTS;
        count++;
        if (plan->steps[j].group && is_last(plan, j)) {
            steps[count] = sums_of(steps, count);
            count++;
        }
    }
    memory_free(plan->steps);
    plan->steps = steps;
    plan->step_room = room;
    plan->step_count = count;
    return BRAID_OK;
}
