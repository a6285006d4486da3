/*
 * Running a plan, segment by segment: a loop over kernel launches or, where the device can record them, one replay.
 * What changes from step to step (rates, masks, keys of dropout, the factor of the loss) lies in device memory,
 * so that a replay equals the loop bit for bit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "race/measure.h"
#include "plan/plan.h"

/* ---- Keys of dropout ----------------------------------------------------------------------- */

static int is_key(const graph_plane *plane) {
    return plane->kind == PLANE_STATE && plane->is_counter && plane->rank == 1;
}

/* Reads the keys, unless the host knows what the device has: a step must not wait for it. */
static braid_status know_keys(braid_model *model) {
    device *d = model->context->device;
    for (int j = 0; j < model->graph->plane_count && !model->keys_known; j++) {
        if (is_key(&model->graph->planes[j]))
            TRY(d->backend->download(d, model->keys[j], model_address(model, j, BRAID_DTYPE_I64), sizeof *model->keys));
    }
    model->keys_known = 1;
    return BRAID_OK;
}

/* The next number of every dropout's key, before a forward run of training. */
static braid_status turn_keys(braid_plan *plan) {
    braid_model *model = plan->model;
    device *d = model->context->device;
    if (plan->program.options.phase != BRAID_PHASE_TRAIN) return BRAID_OK;
    TRY(know_keys(model));
    for (int j = 0; j < model->graph->plane_count; j++) {
        if (!is_key(&model->graph->planes[j])) continue;
        model->keys[j][1]++;
        TRY(d->backend->upload(d, model_address(model, j, BRAID_DTYPE_I64), model->keys[j], sizeof *model->keys));
        model->turned_by = plan;
    }
    return BRAID_OK;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* The latest call comes first: its parts may still be in a cache, out of which those of the first would drive them. */
static braid_status add_parts(const braid_plan *plan, const step *s) {
    const step *members[PLAN_GROUP_CALLS];
    kernel_call calls[PLAN_GROUP_CALLS];
    int count = plan_summed_steps(plan, s, members);
    for (int j = 0; j < count; j++) {
        const step *member = members[count - 1 - j];
        const braid_op *op = member->op;
        calls[j] = (kernel_call){op->kernel->functions, &op->problem, op->state, &member->buffers};
    }
    return s->op->kernel->functions->adder->add(plan->model->context->device, calls, count);
}

braid_status plan_run_step(const braid_plan *plan, const step *s) {
    const kernel_functions *f = s->op->kernel->functions;
    const braid_problem *p = &s->op->problem;
    device *d = plan->model->context->device;
    switch (s->part) {
        case STEP_PACK: return f->pack(p, d, s->op->state, &s->buffers);
        case STEP_RUN: return f->run(p, d, s->op->state, &s->buffers);
        case STEP_PARTS: return f->parts(p, d, s->op->state, &s->buffers);
        case STEP_SUMS: return add_parts(plan, s);
        case STEP_LAUNCH: break;
    }
    return kernel_launch(f, p, d, s->op->state, &s->buffers);
}

static braid_status run_numbered(void *context, int i) {
    const braid_plan *plan = context;
    return plan_run_step(plan, &plan->steps[i]);
}

braid_status plan_load(braid_plan *plan) {
    device *d = plan->model->context->device;
    return d->backend->load ? d->backend->load(d, run_numbered, plan, plan->step_count) : BRAID_OK;
}

static braid_status check_order(braid_plan *plan, unsigned segments, const char *caller) {
    const unsigned all = BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE;
    if (!plan) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a plan, got NULL", caller);
    if (!segments || (segments & ~all))
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected bits of braid_segment, got %u", caller, segments);
    if ((segments & ~(unsigned)BRAID_SEGMENT_FORWARD) && plan->program.options.phase == BRAID_PHASE_EVAL)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected the segment forward alone of a plan for evaluation", caller);
    if ((segments & BRAID_SEGMENT_BACKWARD) && !(segments & BRAID_SEGMENT_FORWARD) && !plan->has_forward)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a forward run before every backward run", caller);
    const braid_plan *turned_by = plan->model->turned_by;
    if ((segments & BRAID_SEGMENT_BACKWARD) && !(segments & BRAID_SEGMENT_FORWARD) && turned_by && turned_by != plan)
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: expected the backward run before another plan of the model draws new numbers for dropout",
                    caller);
    if ((segments & BRAID_SEGMENT_UPDATE) && !(segments & BRAID_SEGMENT_BACKWARD) && !plan->has_gradients)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a backward run before an update", caller);
    return context_enter(plan->model->context, caller);
}

/* What is there after a run of these segments. */
static void note_run(braid_plan *plan, unsigned segments) {
    if (segments & BRAID_SEGMENT_FORWARD) plan->has_forward = 1;
    if (segments & BRAID_SEGMENT_BACKWARD) {
        plan->has_forward = 0;
        plan->has_gradients = 1;
    }
}

/* Packs that are kept are left out where the parameters are those that they were made of. */
static braid_status run_steps(braid_plan *plan, unsigned segments) {
    const int64_t changes = plan->model->changes;
    const int is_packed = plan->packed_of == changes;
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        if (step_runs(s, segments) && !(s->is_kept && is_packed)) TRY(plan_run_step(plan, s));
    }
    if (segments & BRAID_SEGMENT_FORWARD) plan->packed_of = changes;
    return BRAID_OK;
}

/* Records the steps on the side queue, from step `first` on, that begin in front of step `end` or earlier. Returns in
 * `first` the next that does not. */
static braid_status record_side(const braid_plan *plan, unsigned segments, int *first, int end) {
    device *d = plan->model->context->device;
    for (; *first < plan->step_count; ++*first) {
        const step *s = &plan->steps[*first];
        if (!s->is_on_side || !step_runs(s, segments)) continue;
        if (s->begins > end) break;
        TRY(d->backend->side_begin(d));
        TRY(plan_run_step(plan, s));
        TRY(d->backend->side_end(d, *first));
    }
    return BRAID_OK;
}

/* The same inside a recording, which may put steps on the side queue. */
static braid_status record_steps(const braid_plan *plan, unsigned segments) {
    device *d = plan->model->context->device;
    int side = 0;
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        if (s->is_on_side || !step_runs(s, segments)) continue;
        TRY(record_side(plan, segments, &side, j));
        if (s->joins >= 0) TRY(d->backend->join(d, s->joins));
        TRY(plan_run_step(plan, s));
    }
    return record_side(plan, segments, &side, plan->step_count);
}

static braid_status record(braid_plan *plan, unsigned segments) {
    device *d = plan->model->context->device;
    TRY(d->backend->record(d));
    braid_status status = record_steps(plan, segments);
    braid_status ended = d->backend->record_end(d, status ? NULL : &plan->recorded[segments]);
    return status ? status : ended;
}

/* The first run of some segments loads what vendors' kernels need; the second is recorded, and from then on the
 * recording runs. */
static braid_status run_recorded(braid_plan *plan, unsigned segments) {
    device *d = plan->model->context->device;
    if (!d->backend->record || plan->request.eager) return run_steps(plan, segments);
    if (!plan->recorded[segments] && !plan->has_run[segments]) {
        TRY(run_steps(plan, segments));
        plan->has_run[segments] = 1;
        return BRAID_OK;
    }
    if (!plan->recorded[segments]) TRY(record(plan, segments));
    return d->backend->replay(d, plan->recorded[segments]);
}

static braid_status begin_update(braid_plan *plan) {
    plan->model->changes++;
    return plan_send_rates(plan);
}

braid_status braid_plan_run(braid_plan *plan, unsigned segments) {
    TRY(check_order(plan, segments, "braid_plan_run"));
    plan->has_forward &= !(segments & BRAID_SEGMENT_FORWARD); /* until it has come to its end */
    if (segments & BRAID_SEGMENT_FORWARD) TRY(turn_keys(plan));
    if (segments & BRAID_SEGMENT_UPDATE) TRY(begin_update(plan));
    TRY(run_recorded(plan, segments));
    note_run(plan, segments);
    return BRAID_OK;
}

/* ---- Times ---------------------------------------------------------------------------------- */

/* Some segments of a plan, as the stopwatch runs them. */
typedef struct timed_run {
    braid_plan *plan;
    unsigned segments;
    int *steps; /* of these segments */
    int first;  /* of them */
} timed_run;

static braid_status run_whole(void *context, int i) {
    const timed_run *t = context;
    (void)i;
    return braid_plan_run(t->plan, t->segments);
}

static braid_status run_one(void *context, int i) {
    const timed_run *t = context;
    return plan_run_step(t->plan, &t->plan->steps[t->steps[t->first + i]]);
}

braid_status braid_plan_time(braid_plan *plan, unsigned segments, int runs, double *seconds) {
    timed_run t = {.plan = plan, .segments = segments};
    TRY(check_order(plan, segments, "braid_plan_time"));
    if (runs < 1 || !seconds)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_time: expected 1 run or more and a place for seconds, got %d",
                    runs);
    device *d = plan->model->context->device;
    while (d->backend->record && !plan->request.eager && !plan->recorded[segments]) TRY(run_whole(&t, 0));
    return d->backend->time(d, run_whole, &t, runs, seconds);
}

/* Rounds of all steps, their times by step and round; then what each of them queues. */
static braid_status profile_steps(timed_run *t, int count, int rounds, double *round_s, double *times) {
    braid_plan *plan = t->plan;
    device *d = plan->model->context->device;
    for (int round = 0; round < rounds; round++) {
        if (t->segments & BRAID_SEGMENT_FORWARD) TRY(turn_keys(plan));
        if (t->segments & BRAID_SEGMENT_UPDATE) TRY(begin_update(plan));
        TRY(d->backend->time_each(d, run_one, t, count, round_s));
        for (int j = 0; j < count; j++) times[j * RATIO_MAX_ROUNDS + round] = round_s[j];
    }
    for (t->first = 0; t->first < count && d->backend->look_at; t->first++) {
        queued_work *queued = &plan->steps[t->steps[t->first]].queued;
        TRY(d->backend->look_at(d, run_one, t, queued));
    }
    return BRAID_OK;
}

braid_status braid_plan_profile(braid_plan *plan, unsigned segments, int rounds, double *seconds) {
    double *times = NULL, *round_s = NULL;
    timed_run t = {.plan = plan, .segments = segments};
    int count = 0;
    TRY(check_order(plan, segments, "braid_plan_profile"));
    if (rounds < 1 || rounds > RATIO_MAX_ROUNDS || !seconds)
        return fail(BRAID_ERROR_ARGUMENT, "braid_plan_profile: expected 1 to %d rounds and a place for seconds, got %d",
                    RATIO_MAX_ROUNDS, rounds);
    size_t steps = (size_t)plan->step_count + 1;
    braid_status status = memory_calloc(steps, RATIO_MAX_ROUNDS * sizeof *times, "times", (void **)&times);
    if (!status) status = memory_calloc(steps, sizeof *round_s, "times", (void **)&round_s);
    if (!status) status = memory_calloc(steps, sizeof *t.steps, "times", (void **)&t.steps);
    for (int j = 0; j < plan->step_count && !status; j++) {
        seconds[j] = 0;
        if (step_runs(&plan->steps[j], segments)) t.steps[count++] = j;
    }
    if (!status) status = profile_steps(&t, count, rounds, round_s, times);
    note_run(plan, segments);
    for (int j = 0; j < count && !status; j++)
        seconds[t.steps[j]] = interval_of(times + j * RATIO_MAX_ROUNDS, rounds).median;
    memory_free(t.steps);
    memory_free(round_s);
    memory_free(times);
    return status;
}
