/*
 * The method held against the truth: a kernel raced against itself, where nothing may be claimed, and against itself
 * with time planted, which must be found. What runs is the race as it always is; its order is drawn.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "core/memory.h"
#include "core/rng.h"
#include "race/measure.h"
#include "race/noise.h"
#include "race/planned_op.h"

#define DEFAULT_SECONDS 0.5
#define MOST_PLANT 10.0

/* Which runner is the kernel itself (place 0) and which its copies. */
static void draw_places(uint64_t seed, int count, int *place) {
    rng r = {.seed = seed};
    for (int j = 0; j < count; j++) place[j] = j;
    for (int j = count - 1; j > 0; j--) {
        const int other = (int)rng_between(&r, 0, j), kept = place[j];
        place[j] = place[other];
        place[other] = kept;
    }
}

static braid_status take_proofs(const runner *runners, const int *place, double floor, braid_proof *proofs, int count) {
    const runner *base = &runners[place[0]];
    for (int j = 0; j <= count; j++)
        if (runners[place[j]].failure[0])
            return fail(BRAID_ERROR_DEVICE, "braid_op_prove: %s", runners[place[j]].failure);
    for (int j = 0; j < count; j++) {
        const runner *copy = &runners[place[j + 1]];
        const int rounds = copy->rounds < base->rounds ? copy->rounds : base->rounds; /* one may have been dropped */
        const ratio over = ratio_of_rounds(base->seconds, copy->seconds, rounds);
        const interval i = ratio_interval(&over, CERTAIN_TO_CLAIM, floor);
        proofs[j].ratio = i.median;
        proofs[j].ratio_low = i.low;
        proofs[j].ratio_high = i.high;
    }
    return BRAID_OK;
}

static braid_status prove(braid_op *op, const braid_proof_options *o, braid_proof *proofs, int count) {
    braid_context *context = op->context;
    runner *runners = NULL;
    int place[BRAID_MAX_PROOFS + 1] = {0};
    const double seconds = o->seconds > 0 ? o->seconds : DEFAULT_SECONDS;
    const measure_options how = {.seconds = seconds, .min_rounds = 8, .seed = 1};
    const double floor = noise_floor(context, o->floor_seconds).within;
    TRY(memory_calloc((size_t)count + 1, sizeof *runners, "runners", (void **)&runners));
    draw_places(o->seed, count + 1, place);
    for (int j = 0; j <= count; j++) {
        runners[place[j]].kernel = op->kernel;
        runners[place[j]].plant = j > 0 ? proofs[j - 1].plant : 0;
    }
    const load_mark mark = load_now();
    braid_status status = measure_runners(&op->problem, context->device, runners, count + 1, &how);
    const load l = load_since(&mark, context->device);
    if (status == BRAID_OK) status = take_proofs(runners, place, floor, proofs, count);
    for (int j = 0; j < count && status == BRAID_OK; j++) {
        proofs[j].seconds = interval_of(runners[place[0]].seconds, runners[place[0]].rounds).median;
        proofs[j].others = l.cpus > 0 ? l.others : -1;
        proofs[j].is_busy = load_is_heavy(&l, context_threads(context)) && !load_is_ignored();
    }
    memory_free(runners);
    return status;
}

braid_status braid_op_prove(braid_op *op, const braid_proof_options *options, braid_proof *proofs, int count) {
    const braid_proof_options defaults = {0}, *o = options ? options : &defaults;
    if (!op || !proofs) return fail(BRAID_ERROR_ARGUMENT, "braid_op_prove: expected an op and proofs, got NULL");
    TRY(context_enter(op->context, "braid_op_prove"));
    if (!op->kernel)
        return fail(BRAID_ERROR_ARGUMENT, "braid_op_prove: expected a planned op; call braid_op_plan first");
    if (count < 1 || count > BRAID_MAX_PROOFS || !(o->seconds >= 0))
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_op_prove: expected 1 to %d proofs and seconds of 0 or more, got %d and %g", BRAID_MAX_PROOFS,
                    count, o->seconds);
    for (int j = 0; j < count; j++)
        if (!(proofs[j].plant >= 0 && proofs[j].plant <= MOST_PLANT))
            return fail(BRAID_ERROR_ARGUMENT, "braid_op_prove: expected a planted share from 0 to %g, got %g",
                        MOST_PLANT, proofs[j].plant);
    return prove(op, o, proofs, count);
}
