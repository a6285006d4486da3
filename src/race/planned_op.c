/*
 * An op of the public interface: create, plan (choose and ready a kernel), run, explain, check.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/log.h"
#include "core/memory.h"
#include "race/choices.h"
#include "race/measure.h"
#include "race/planned_op.h"
#include "race/wisdom.h"

braid_status braid_op_create(braid_context *context, const braid_problem *problem, braid_op **op) {
    braid_op *made = NULL;
    if (!op) return fail(BRAID_ERROR_ARGUMENT, "braid_op_create: expected a place for the op, got NULL");
    *op = NULL;
    TRY(context_enter(context, "braid_op_create"));
    if (!problem) return fail(BRAID_ERROR_ARGUMENT, "braid_op_create: expected a problem, got NULL");
    braid_problem checked = *problem;
    TRY(braid_problem_check(&checked));
    TRY(memory_calloc(1, sizeof *made, "op", (void **)&made));
    made->context = context;
    made->problem = checked;
    made->race.winner = -1;
    made->seen = (braid_race){.candidates = made->candidates, .winner = -1, .why = "not planned yet"};
    *op = made;
    return BRAID_OK;
}

static void forget_kernel(braid_op *op) {
    device *d = op->context->device;
    if (op->kernel && op->kernel->functions->destroy) op->kernel->functions->destroy(d, op->state);
    if (op->workspace) d->backend->free(d, op->workspace);
    op->kernel = NULL;
    op->state = NULL;
    op->is_narrow = 0;
    op->workspace = NULL;
}

void braid_op_destroy(braid_op *op) {
    if (!op) return;
    if (context_enter(op->context, "braid_op_destroy") == BRAID_OK) forget_kernel(op);
    memory_free(op);
}

const braid_problem *braid_op_problem(const braid_op *op) { return op ? &op->problem : NULL; }

/* ---- Operands ----------------------------------------------------------------------------- */

/* The slot of the index-th operand that the problem has; -1: there is none. */
static int slot_of(const braid_problem *p, int index) {
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        if (op_role(p, slot) != ROLE_NONE && index-- == 0) return slot;
    }
    return -1;
}

int braid_op_operand_count(const braid_op *op) {
    int count = 0;
    while (op && slot_of(&op->problem, count) >= 0) count++;
    return count;
}

braid_status braid_op_operand(const braid_op *op, int index, braid_operand_info *info) {
    if (!op || !info)
        return fail(BRAID_ERROR_ARGUMENT, "braid_op_operand: expected an op and a place for the answer, got NULL");
    int slot = index < 0 ? -1 : slot_of(&op->problem, index);
    if (slot < 0) {
        return fail(BRAID_ERROR_ARGUMENT, "braid_op_operand: expected an index from 0 to %d, got %d",
                    braid_op_operand_count(op) - 1, index);
    }
    return op_operand_info(&op->problem, slot, info);
}

/* ---- Planning ----------------------------------------------------------------------------- */

static braid_status ready_kernel(braid_op *op, const kernel *k) {
    op->workspace_bytes = 0;
    if (k->functions->create)
        TRY(k->functions->create(&op->problem, op->context->device, &op->state, &op->workspace_bytes));
    op->kernel = k;
    return BRAID_OK;
}

static braid_status take_named(braid_op *op, const char *name) {
    race *r = &op->race;
    for (int j = 0; j < r->count; j++) {
        if (strcmp(r->racers[j].kernel->name, name) != 0) continue;
        race_ask_one(op->context, &op->problem, &r->racers[j]);
        if (r->racers[j].lacks_memory) return fail(BRAID_ERROR_MEMORY, "kernel %s: %s", name, r->racers[j].reason);
        if (r->racers[j].reason[0])
            return fail(BRAID_ERROR_ARGUMENT, "kernel %s cannot do this problem: %s", name, r->racers[j].reason);
        r->winner = j;
        snprintf(r->why, sizeof r->why, "asked for by name");
        return BRAID_OK;
    }
    return fail(BRAID_ERROR_ARGUMENT,
                "expected a kernel of this op, pass and device, got \"%.64s\"; braid explain lists them", name);
}

#define STEP_SECONDS 1.0 /* of the race of one step where nothing else is said */

/* The only candidate of a race; NULL: there is something to choose, or nothing. */
static const kernel *only_candidate(const race *r) {
    const kernel *only = NULL;
    for (int j = 0; j < r->count; j++) {
        if (r->racers[j].reason[0]) continue;
        if (only) return NULL;
        only = r->racers[j].kernel;
    }
    return only;
}

/* Chooses the kernel of one step, by a race where there are several. */
static braid_status plan_step(braid_op *step, const braid_plan_options *o) {
    step->is_brief = o->effort != BRAID_EFFORT_EXHAUSTIVE;
    race_list_quick(step->context, &step->problem, &step->race);
    const kernel *only = only_candidate(&step->race);
    if (!only) TRY(braid_op_plan(step, o));
    choices_remember(step->context, &step->problem, only ? only : step->kernel);
    return BRAID_OK;
}

/* Chooses the kernels of the chain's steps, which then race as one candidate. A step that is refused or that no kernel
 * can do leaves the chain out of the race, not the op; a step for whose kernel there is no memory fails. */
static braid_status plan_steps(braid_op *op, const braid_plan_options *o) {
    op_chain c = {0};
    braid_plan_options each = *o;
    if (!op_of(&op->problem)->chain || op_of(&op->problem)->chain(&op->problem, &c)) return BRAID_OK;
    if (op->context->repro == BRAID_REPRO_THREADS) return BRAID_OK; /* nothing measured is asked for there */
    each.seconds = o->seconds > 0 ? o->seconds / (c.count + 1) : STEP_SECONDS;
    for (int j = 0; j < c.count; j++) {
        braid_op *step = NULL;
        braid_status status = braid_op_create(op->context, &c.steps[j].problem, &step);
        if (status == BRAID_OK) status = plan_step(step, &each);
        braid_op_destroy(step);
        if (status == BRAID_ERROR_ARGUMENT) return BRAID_OK;
        TRY(status);
    }
    return BRAID_OK;
}

/* Asks and checks the candidates that were listed. */
static braid_status check_listed(braid_op *op, const braid_plan_options *o) {
    const int all = o->effort == BRAID_EFFORT_EXHAUSTIVE;
    race_ask(op->context, &op->problem, &op->race);
    if (!op->is_brief) TRY(plan_steps(op, o));
    if (!all) race_spare_reference(&op->problem, &op->race);
    if (!all && op->is_brief) race_spare_slow(&op->problem, &op->race);
    TRY((op->is_brief ? race_check_small
         : all        ? race_check
                      : race_check_quick)(op->context, &op->problem, 1, &op->race));
    op->race.is_brief = op->is_brief;
    op->is_checked = !op->is_brief;
    op->checked_with = o->effort;
    return BRAID_OK;
}

/* Recalls a race that tells as much as this one would: a brief one does not stand for a whole one. */
static int recall_as_good(braid_op *op) {
    race known = op->race;
    if (!wisdom_recall(op->context, &op->problem, &known) || (known.is_brief && !op->is_brief)) return 0;
    op->race = known;
    return 1;
}

static braid_status measure(braid_op *op, const braid_plan_options *o) {
    if (!o->again && !o->warm && recall_as_good(op)) return BRAID_OK;
    const double start = measure_now();
    if (!op->is_checked) TRY(check_listed(op, o));
    const double checked = measure_now();
    TRY(race_time(op->context, &op->problem, o, &op->race));
    log_write(LOG_PLAN, "%s: checked in %.3f s, timed in %.3f s", op_of(&op->problem)->name, checked - start,
              measure_now() - checked);
    if (op->is_brief) TRY(race_check_winner(op->context, &op->problem, 1, &op->race));
    if (op->race.is_busy)
        log_write(LOG_WISDOM, "not stored: %s", op->race.load);
    else if (!o->warm)
        wisdom_store(op->context, &op->problem, &op->race);
    return BRAID_OK;
}

/* A winner that was not asked yet is asked, and where it cannot do the problem the others decide again. */
static void decide(braid_op *op) {
    race *r = &op->race;
    do {
        if (r->winner >= 0) race_ask_one(op->context, &op->problem, &r->racers[r->winner]);
        if (op->context->repro == BRAID_REPRO_THREADS)
            race_decide_for_threads(&op->problem, r);
        else
            race_decide(&op->problem, r);
    } while (r->winner >= 0 && r->racers[r->winner].is_open);
}

/* What was right when it was timed may not be so now: the processor, the library and the entry may be others. */
static braid_status check_remembered(braid_op *op) {
    for (int right = 0; !right && op->race.winner >= 0;) {
        TRY(race_prove(op->context, &op->problem, &op->race.racers[op->race.winner], &right));
        if (!right) decide(op);
    }
    return BRAID_OK;
}

/* Lists the candidates anew, unless the same race was checked before and is only to be timed again. */
static void list(braid_op *op, const braid_plan_options *o) {
    if (op->is_checked && o->again && !o->kernel && o->effort == op->checked_with) {
        race_forget_times(&op->race);
        return;
    }
    op->is_checked = 0;
    race_list_quick(op->context, &op->problem, &op->race);
}

static braid_status choose(braid_op *op, const braid_plan_options *o) {
    list(op, o);
    if (o->kernel) return take_named(op, o->kernel);
    if (o->effort == BRAID_EFFORT_ESTIMATE || op_is_empty(&op->problem)) {
        if (!wisdom_recall(op->context, &op->problem, &op->race))
            wisdom_recall_nearest(op->context, &op->problem, &op->race);
    } else {
        TRY(measure(op, o));
    }
    decide(op);
    return op->race.from_wisdom ? check_remembered(op) : BRAID_OK;
}

/* The reasons of all candidates in one message; of a GPU that is too old, that; where one had no memory, its own. */
static braid_status none_able(const braid_op *op) {
    const device *d = op->context->device;
    const racer *lacking = race_lacking(&op->race);
    char text[600];
    int used = 0;
    if (d->backend == &backend_cuda && !(d->features & FEATURE_SM80))
        return fail(BRAID_ERROR_DEVICE,
                    "%s: expected a GPU of compute capability 8.0 or newer, got %s; use --device cpu", d->name,
                    d->model);
    if (lacking)
        return fail(
            BRAID_ERROR_MEMORY, "%s %s on %s: no kernel can do this problem with the memory that is free (%s: %s)",
            op_of(&op->problem)->name, op_dtype_name(&op->problem), d->name, lacking->kernel->name, lacking->reason);
    for (int j = 0; j < op->race.count && (size_t)used < sizeof text; j++) {
        int wrote = snprintf(text + used, sizeof text - (size_t)used, "%s%s: %s", j ? "; " : "",
                             op->race.racers[j].kernel->name, op->race.racers[j].reason);
        if (wrote > 0) used += wrote;
    }
    return fail(BRAID_ERROR_ARGUMENT, "%s %s on %s: no kernel can do this problem (%s)", op_of(&op->problem)->name,
                op_dtype_name(&op->problem), d->name, op->race.count ? text : "there is none for this device");
}

static int is_handicapped(const kernel *k) {
    if (!k->vendor) return 0;
    if (strcmp(k->vendor, "onednn") == 0) return onednn_library()->handicapped;
    if (strcmp(k->vendor, "openblas") == 0) return openblas_library()->handicapped;
    return 0;
}

/* The speed of a timed candidate beside the baseline. */
static void show_ratio(const race *r, int baseline, int index, braid_candidate *to) {
    if (baseline < 0 || r->racers[index].median <= 0) return;
    const interval i = race_ratio(r, &r->racers[baseline], &r->racers[index], CERTAIN_TO_CLAIM);
    to->ratio = i.median;
    to->ratio_low = i.low;
    to->ratio_high = i.high;
}

/* Copies the race into the public form. */
static void show(braid_op *op) {
    const race *r = &op->race;
    const int baseline = race_baseline(r);
    for (int j = 0; j < r->count; j++) {
        const racer *from = &r->racers[j];
        op->candidates[j] = (braid_candidate){
            .kernel = from->kernel->name,
            .kind = kernel_kind(from->kernel),
            .reason = from->reason[0] ? from->reason : NULL,
            .median_s = from->median,
            .low_s = from->low,
            .high_s = from->high,
            .max_err = from->max_err,
            .compared = from->compared,
            .handicapped = is_handicapped(from->kernel),
            .workspace_bytes = from->workspace_bytes,
        };
        show_ratio(r, baseline, j, &op->candidates[j]);
    }
    op->seen = (braid_race){
        .candidates = op->candidates,
        .count = r->count,
        .winner = r->winner,
        .why = r->why,
        .from_wisdom = r->from_wisdom,
        .baseline = baseline,
        .is_busy = r->is_busy,
        .load = r->load,
        .flops = op_of(&op->problem)->flops(&op->problem),
        .bytes = op_bytes(&op->problem),
    };
}

braid_status op_choose(braid_op *op, const braid_plan_options *o) {
    forget_kernel(op);
    braid_status status = choose(op, o);
    show(op);
    TRY(status);
    if (op->race.winner < 0) return none_able(op);
    racer *winner = &op->race.racers[op->race.winner];
    log_write(LOG_PLAN, "%s: %s", winner->kernel->name, op->race.why);
    TRY(ready_kernel(op, winner->kernel));
    winner->workspace_bytes = op->candidates[op->race.winner].workspace_bytes = op->workspace_bytes;
    return BRAID_OK;
}

braid_status op_narrow(braid_op *op) {
    const kernel_functions *f = op->kernel->functions;
    if (!f->narrow || op->is_narrow) return BRAID_OK;
    op->is_narrow = 1;
    return f->narrow(&op->problem, op->state, &op->workspace_bytes);
}

braid_status options_check(const braid_plan_options *o, const char *caller) {
    if ((unsigned)o->effort <= BRAID_EFFORT_EXHAUSTIVE && o->seconds >= 0) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected an effort from 0 to 2 and seconds of 0 or more, got %d and %g",
                caller, (int)o->effort, o->seconds);
}

braid_status braid_op_plan(braid_op *op, const braid_plan_options *options) {
    const braid_plan_options defaults = {0}, *o = options ? options : &defaults;
    if (!op) return fail(BRAID_ERROR_ARGUMENT, "braid_op_plan: expected an op, got NULL");
    TRY(context_enter(op->context, "braid_op_plan"));
    TRY(options_check(o, "braid_op_plan"));
    TRY(op_choose(op, o));
    if (op->workspace_bytes == 0) return BRAID_OK;
    device *d = op->context->device;
    braid_status status = d->backend->alloc(d, op->workspace_bytes, &op->workspace);
    if (status != BRAID_OK) forget_kernel(op);
    return status;
}

const braid_race *braid_op_explain(const braid_op *op) { return op ? &op->seen : NULL; }

const char *braid_kernel_architecture(const char *name) {
    const kernel *k = name ? kernel_find(name) : NULL;
    return k && !k->vendor ? feature_name(k->features) : NULL;
}

braid_status braid_op_check(braid_op *op, uint64_t seed) {
    if (!op) return fail(BRAID_ERROR_ARGUMENT, "braid_op_check: expected an op, got NULL");
    TRY(context_enter(op->context, "braid_op_check"));
    op->is_checked = 0;
    race_list(op->context, &op->problem, &op->race);
    int listed_able = 0;
    for (int j = 0; j < op->race.count; j++) listed_able += !op->race.racers[j].reason[0];
    braid_status status = race_check(op->context, &op->problem, seed, &op->race);
    show(op);
    TRY(status);
    for (int j = 0; j < op->race.count; j++) {
        const racer *r = &op->race.racers[j];
        if (r->max_err >= 0 && r->reason[0]) return fail(BRAID_ERROR_CHECK, "%s: %s", r->kernel->name, r->reason);
    }
    return listed_able ? BRAID_OK : none_able(op);
}

/* ---- Running ------------------------------------------------------------------------------ */

static const braid_operand *find_operand(const braid_operand *operands, int count, const char *name) {
    for (int j = 0; j < count; j++) {
        if (operands[j].name && strcmp(operands[j].name, name) == 0) return &operands[j];
    }
    return NULL;
}

static braid_status bind_operand(const braid_op *op, int slot, const braid_operand *operands, int count, buffers *b) {
    braid_operand_info info;
    TRY(op_operand_info(&op->problem, slot, &info));
    const braid_operand *given = find_operand(operands, count, info.name);
    if (!given)
        return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected operand %s, got none of that name", info.name);
    for (int i = 0; i < info.planes; i++) {
        if (!given->plane[i] && info.bytes[i]) {
            return fail(BRAID_ERROR_ARGUMENT,
                        "braid_op_run: expected a pointer to %zu bytes for %s of stream %d, got NULL", info.bytes[i],
                        info.name, i);
        }
        b->plane[slot][i] = given->plane[i];
    }
    return BRAID_OK;
}

/* Refuses names that the op does not have or that are given twice. */
static braid_status check_names(const braid_op *op, const braid_operand *operands, int count) {
    for (int j = 0; j < count; j++) {
        int known = 0;
        if (!operands[j].name)
            return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected a name for operand %d, got NULL", j);
        for (int slot = 0; slot < op_operand_count(op_of(&op->problem)); slot++) {
            known |= op_role(&op->problem, slot) != ROLE_NONE &&
                     strcmp(op_operand_name(&op->problem, slot), operands[j].name) == 0;
        }
        if (!known) {
            return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected an operand of %s, got \"%.32s\"",
                        op_of(&op->problem)->name, operands[j].name);
        }
        if (find_operand(operands, j, operands[j].name)) {
            return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected operand %s once, got it twice", operands[j].name);
        }
    }
    return BRAID_OK;
}

static braid_status check_plane(const braid_problem *p, int slot, int i, const void *data) {
    const op_info *o = op_of(p);
    operand_fill fill = o->operands[slot].fill;
    if (fill == FILL_MASK && o->check_active) return o->check_active(p, i, mask_active(data, p->batch));
    return fill == FILL_OWN && o->check_table ? o->check_table(p, slot, i, data) : BRAID_OK;
}

/* Masks and tables that lie in host memory are looked at before anything is written. */
static braid_status check_planes(const braid_op *op, const buffers *b) {
    const braid_problem *p = &op->problem;
    if (op->context->device->backend != &backend_cpu) return BRAID_OK;
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_input(op_role(p, slot)) && i < op_of(p)->planes(p, slot); i++) {
            TRY(check_plane(p, slot, i, b->plane[slot][i]));
        }
    }
    return BRAID_OK;
}

braid_status braid_op_run(braid_op *op, const braid_operand *operands, int count) {
    buffers b = {0};
    if (!op || count < 0 || (count > 0 && !operands))
        return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected an op and its operands, got NULL");
    TRY(context_enter(op->context, "braid_op_run"));
    if (!op->kernel) return fail(BRAID_ERROR_ARGUMENT, "braid_op_run: expected a planned op; call braid_op_plan first");
    TRY(check_names(op, operands, count));
    for (int slot = 0; slot < op_operand_count(op_of(&op->problem)); slot++) {
        if (op_role(&op->problem, slot) != ROLE_NONE) TRY(bind_operand(op, slot, operands, count, &b));
    }
    TRY(check_planes(op, &b));
    b.workspace = op->workspace;
    return kernel_launch(op->kernel->functions, &op->problem, op->context->device, op->state, &b);
}
