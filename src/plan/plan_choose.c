/*
 * The kernels of a plan within its time. Everything counts: reference checks and the filling of memory as well as timed
 * launches. Ops are taken in the order of what is to be gained, by the predicted time of all their calls; one whose
 * race would not end in time, and all that are left when the time is up, are chosen by what is remembered or by the
 * cost model. So a short budget goes to the few problems that a step spends its time on.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "race/measure.h"
#include "plan/pins.h"
#include "race/race.h"
#include "race/wisdom.h"

#define PLAN_SECONDS 16.0 /* where nothing else is said: with all that a start has besides, less than 20 s */

#define LEAST_WORTH 0.003 /* of all calls together: less is not raced, and a later start does not wait for it either */
#define ALONE_WORTH 0.05  /* of a race that one kernel runs against its own chain; against nothing there is none */

/* An op and what is known of it before any race. */
typedef struct outlook {
    int op;
    double calls_s; /* all calls of it in the plan, by the best candidate; less where there is little to choose */
    double race_s;  /* its race, with all that belongs to it; 0: there is none */
    int is_known;   /* wisdom has its times, */
    int is_left;    /* or a note that an earlier plan with as many seconds had no time for it */
} outlook;

static int by_worth(const void *a, const void *b) {
    const outlook *x = a, *y = b;
    if (x->calls_s != y->calls_s) return x->calls_s < y->calls_s ? 1 : -1;
    return (x->op > y->op) - (x->op < y->op);
}

/* What a race is worth, as a share of the time of its calls: by the candidates that were made to be fast, and the
 * chain. */
static double worth(const race *r) {
    int fast = 0, chains = 0;
    for (int j = 0; j < r->count; j++) {
        braid_kind kind = kernel_kind(r->racers[j].kernel);
        if (r->racers[j].reason[0]) continue;
        fast += kind == BRAID_KIND_OWN || kind == BRAID_KIND_VENDOR;
        chains += kind == BRAID_KIND_CHAIN;
    }
    return fast > 1 ? 1 : fast + chains > 1 ? ALONE_WORTH : 0;
}

static double budget(const braid_plan *plan) {
    double seconds = plan->request.choice.seconds;
    return seconds > 0 ? seconds : PLAN_SECONDS;
}

static void look_at(const braid_plan *plan, int j, race *r, outlook *out) {
    const braid_op *op = plan->ops[j];
    int calls = 0;
    for (int s = 0; s < plan->step_count; s++) calls += plan->steps[s].op == op;
    race_list_quick(plan->model->context, &op->problem, r);
    race_spare_reference(&op->problem, r);
    race_spare_slow(&op->problem, r);
    *out = (outlook){.op = j, .race_s = race_predict(&op->problem, plan->model->context->device, r)};
    out->calls_s = race_predict_best(&op->problem, r) * (calls ? calls : 1) * worth(r);
    if (plan->request.choice.again) return;
    out->is_known = wisdom_recall(plan->model->context, &op->problem, r);
    out->is_left = !out->is_known && wisdom_left_out(plan->model->context, &op->problem) >= budget(plan);
}

/* Tells the caller which op is next. One that has had enough gets the rest without races. */
static void tell_progress(braid_plan *plan, int op, int index, braid_plan_options *each) {
    braid_plan_request *r = &plan->request;
    if (r->progress && r->progress(r->user, &plan->ops[op]->problem, index, plan->op_count))
        each->effort = r->choice.effort = BRAID_EFFORT_ESTIMATE;
}

static int has_limit(const braid_plan *plan) {
    const braid_plan_options *o = &plan->request.choice;
    return o->all ? o->seconds > 0 : o->effort == BRAID_EFFORT_MEASURE;
}

static int is_worth(const outlook *next, double all_s) { return next->calls_s > LEAST_WORTH * all_s; }

/* 1 where the next race need not be: it is worth too little, or an earlier plan left it out. Who asks for all asks for
 * those, too. */
static int may_stay_out(const braid_plan *plan, const outlook *next, double all_s) {
    return !plan->request.choice.all && (next->is_left || !is_worth(next, all_s));
}

/* How the next op is chosen: its share of the time that is left, or none of it. */
static braid_plan_options share(const braid_plan *plan, const outlook *next, double all_s, int left) {
    braid_plan_options each = plan->request.choice;
    if (plan->model->context->repro == BRAID_REPRO_THREADS)
        each.effort = BRAID_EFFORT_ESTIMATE; /* times decide nothing */
    if (each.effort == BRAID_EFFORT_MEASURE) each.seconds = budget(plan) / plan->op_count;
    if (!has_limit(plan)) return each;
    double rest = plan->deadline - measure_now();
    each.seconds = rest > 0 ? rest / left : 0;
    if (each.seconds <= 0 || plan->pace * next->race_s > rest || may_stay_out(plan, next, all_s))
        each.effort = BRAID_EFFORT_ESTIMATE;
    return each;
}

/* Notes a race that the plan has no time for: the next start with as many seconds goes on without it, too. */
static void note_left_out(const braid_plan *plan, const outlook *next, const braid_plan_options *each) {
    const braid_context *context = plan->model->context;
    const braid_problem *p = &plan->ops[next->op]->problem;
    if (!has_limit(plan) || plan->request.choice.all || each->effort != BRAID_EFFORT_ESTIMATE ||
        context->repro == BRAID_REPRO_THREADS)
        return;
    if (!next->is_known && !next->is_left && !model_choice(plan->model, p)) wisdom_leave_out(context, p, budget(plan));
}

/* Chooses, and learns how long races take here and now. */
static braid_status choose_one(braid_plan *plan, const outlook *next, const braid_plan_options *each) {
    braid_op *op = plan->ops[next->op];
    double start = measure_now();
    TRY(choose_pinned(plan->model, op, each));
    int timed = op->race.winner >= 0 && op->race.racers[op->race.winner].median > 0 && !op->race.from_wisdom;
    if (!timed || next->race_s <= 0) return BRAID_OK;
    plan->raced_s += measure_now() - start;
    plan->predicted_s += next->race_s;
    plan->pace = plan->raced_s / plan->predicted_s;
    return BRAID_OK;
}

static braid_status choose_in_order(braid_plan *plan, const outlook *order, int first) {
    double all_s = 0;
    for (int j = first; j < plan->op_count; j++) all_s += order[j - first].calls_s;
    for (int j = first; j < plan->op_count; j++) {
        const outlook *next = &order[j - first];
        braid_plan_options each = share(plan, next, all_s, plan->op_count - j);
        tell_progress(plan, next->op, j, &each);
        if (is_worth(next, all_s)) note_left_out(plan, next, &each);
        TRY(choose_one(plan, next, &each));
    }
    return BRAID_OK;
}

braid_status plan_choose_kernels(braid_plan *plan, int first) {
    outlook *order = NULL;
    race *r = NULL;
    int count = plan->op_count - first;
    if (plan->deadline <= 0) {
        plan->deadline = measure_now() + budget(plan);
        plan->pace = 1;
    }
    TRY(memory_alloc((size_t)count + 1, sizeof *order, "plan", (void **)&order));
    braid_status status = memory_alloc(1, sizeof *r, "race", (void **)&r);
    for (int j = 0; j < count && !status; j++) {
        order[j] = (outlook){.op = first + j};
        if (has_limit(plan)) look_at(plan, first + j, r, &order[j]);
    }
    if (!status) qsort(order, (size_t)count, sizeof *order, by_worth);
    memory_free(r);
    if (!status) status = choose_in_order(plan, order, first);
    memory_free(order);
    return status;
}
