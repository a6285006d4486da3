/*
 * One batch of training: on a GPU one replay, of which nobody waits for the end. A run that has gone to infinity ends
 * with the parameters of its last good step (trainer_late.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "train/trainer.h"

#define ROW 64 /* elements: parameters are aligned to it */

int trainer_accumulates(const braid_trainer *t) { return t->options.accumulate > 1; }

/* ---- Modality dropout --------------------------------------------------------------------- */

static braid_status set_masks(braid_trainer *t, const pass *p, double share) {
    uint32_t *masks[BRAID_MAX_STREAMS];
    int64_t blanked[BRAID_MAX_STREAMS];
    const modality_batch of = {.seed = t->options.seed,
                               .step = t->at.step,
                               .first = t->gathered_samples,
                               .batch = p->batch,
                               .streams = t->streams};
    if (!p->mask) return BRAID_OK;
    for (int i = 0; i < t->streams; i++) masks[i] = t->masks + (size_t)i * (size_t)((p->batch + 31) / 32);
    modality_draw(&of, share, masks, blanked);
    for (int i = 0; i < t->streams; i++) {
        for (int64_t b = 0; b < p->batch; b++) t->blanked[b] = masks[i][b >> 5] >> (b & 31) & 1;
        TRY(braid_plan_set_mask(p->plan, i, t->blanked));
    }
    return BRAID_OK;
}

/* ---- Accumulation ------------------------------------------------------------------------- */

static braid_status make_sums(braid_trainer *t) {
    const braid_model *m = t->model;
    const braid_problem p = {.op = BRAID_OP_ADD,
                             .dtype = m->master,
                             .streams = 1,
                             .batch = m->elements / ROW,
                             .size = {1, 1},
                             .in_channels = {ROW}};
    const braid_plan_options at_once = {.effort = BRAID_EFFORT_ESTIMATE};
    size_t bytes = (size_t)m->elements * dtype_bytes(m->master);
    if (t->add) return BRAID_OK;
    if (!t->sum) TRY(braid_memory_create(m->context, bytes, &t->sum));
    if (!t->spare) TRY(braid_memory_create(m->context, bytes, &t->spare));
    TRY(braid_op_create(m->context, &p, &t->add));
    return braid_op_plan(t->add, &at_once);
}

/* The sum with the gradients of a batch, in the spare memory; the first of them are the sum. */
static braid_status add_gradients(braid_trainer *t) {
    const braid_model *m = t->model;
    device *d = m->context->device;
    if (t->gathered == 0)
        return d->backend->copy(d, t->spare, m->gradients, (size_t)m->elements * dtype_bytes(m->master));
    const braid_operand operands[] = {{"x", {t->sum}}, {"z", {m->gradients}}, {"y", {t->spare}}};
    return braid_op_run(t->add, operands, 3);
}

static void take_sum(braid_trainer *t) {
    void *made = t->spare;
    t->spare = t->sum;
    t->sum = made;
}

/* ---- Work on the device ------------------------------------------------------------------- */

/* From here on the step is begun; compute() knows when it is done. */
static braid_status run_plan(braid_trainer *t, braid_plan *plan, unsigned segments) {
    t->torn = true;
    return braid_plan_run(plan, segments);
}

/* Work of an update; twice, and compared, where the options want it of this one. */
static braid_status compute(braid_trainer *t, trainer_work *work, void *user) {
    int64_t every = t->options.verify_every;
    int twice = every > 0 && (t->at.step + 1) % every == 0;
    TRY(twice ? trainer_compute_twice(t, work, user) : work(t, user));
    t->torn = false;
    return BRAID_OK;
}

/* ---- A batch ------------------------------------------------------------------------------ */

/* From the bytes of a batch to gradients, their sum, or parameters. */
typedef struct batch_work {
    pass *pass;
    const braid_train_batch *batch;
} batch_work;

static braid_status compute_batch(braid_trainer *t, void *user) {
    const batch_work *work = user;
    const pass *p = work->pass;
    double share = t->options.modality_dropout > 0 ? modality_share(&t->modality, t->at.epoch) : 0;
    unsigned segments = BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD;
    TRY(feed_batch(&work->pass->feed, work->batch, t->at.batch * t->options.step.batch, t->at.step));
    TRY(set_masks(t, p, share));
    if (!trainer_accumulates(t)) return run_plan(t, p->plan, segments | BRAID_SEGMENT_UPDATE);
    TRY(run_plan(t, p->plan, segments));
    return add_gradients(t);
}

static int uses_masks(const braid_trainer *t) { return t->options.modality_dropout > 0 && t->streams > 1; }

/* At the start, the plan of validation too: so that every kernel that was measured is in the first checkpoint. */
static braid_status plan_ahead(braid_trainer *t, int64_t batch, int mask) {
    pass *p;
    if (t->trained || t->options.no_validation) return BRAID_OK;
    TRY(trainer_pass(t, BRAID_PHASE_TRAIN, batch, mask, &p));
    return trainer_pass(t, BRAID_PHASE_EVAL, batch, 0, &p);
}

braid_status trainer_plan_first(braid_trainer *t) {
    pass *p;
    int64_t batch = t->options.step.batch < t->options.samples ? t->options.step.batch : t->options.samples;
    if (t->trained || batch < 1) return BRAID_OK;
    t->model->promised_bytes = t->options.source_bytes; /* it has not started: what is free is not yet less */
    braid_status status = plan_ahead(t, batch, uses_masks(t));
    if (!status) status = trainer_pass(t, BRAID_PHASE_TRAIN, batch, uses_masks(t), &p);
    t->model->promised_bytes = 0;
    return status;
}

static braid_status set_rates(braid_trainer *t, const pass *p) {
    for (int group = 0; group < t->groups; group++) {
        braid_rates rates = t->rates[group];
        rates.learning_rate = schedule_rate(&t->schedule, &t->at.schedule, t->at.step, group, rates.learning_rate);
        t->rate = rates.learning_rate;
        TRY(braid_plan_set_rates(p->plan, group, &rates));
    }
    return BRAID_OK;
}

/* Forward, backward and update in one. */
static braid_status learn_at_once(braid_trainer *t, pass *p, const braid_train_batch *batch) {
    TRY(set_rates(t, p));
    TRY(compute(t, compute_batch, &(batch_work){p, batch}));
    TRY(trainer_expect(t, p, &t->at.train, LATE_UPDATED));
    t->trained = p;
    t->at.batch++;
    t->at.step++;
    return BRAID_OK;
}

braid_status trainer_learn(braid_trainer *t, const braid_train_batch *batch) {
    pass *p;
    int mask = uses_masks(t);
    TRY(plan_ahead(t, batch->count, mask));
    TRY(trainer_pass(t, BRAID_PHASE_TRAIN, batch->count, mask, &p));
    TRY(trainer_start_scaling(t));
    if (!trainer_accumulates(t)) return learn_at_once(t, p, batch);
    TRY(make_sums(t));
    TRY(compute(t, compute_batch, &(batch_work){p, batch}));
    TRY(trainer_expect(t, p, &t->at.train, LATE_LEARNED));
    take_sum(t);
    t->trained = p;
    t->at.batch++;
    t->gathered++;
    t->gathered_samples += batch->count;
    return t->gathered >= t->options.accumulate ? trainer_update(t) : BRAID_OK;
}

/* ---- The update of several batches -------------------------------------------------------- */

static braid_status compute_update(braid_trainer *t, void *user) {
    const braid_model *m = t->model;
    const pass *p = user;
    device *d = m->context->device;
    TRY(d->backend->copy(d, m->gradients, t->sum, (size_t)m->elements * dtype_bytes(m->master)));
    TRY(d->backend->upload(d, model_metric(m, METRIC_SCALING + SCALING_BATCHES), &t->gathered, sizeof t->gathered));
    return run_plan(t, p->plan, BRAID_SEGMENT_UPDATE);
}

braid_status trainer_update(braid_trainer *t) {
    if (t->gathered == 0) return BRAID_OK;
    pass *p = t->trained;
    TRY(set_rates(t, p));
    TRY(compute(t, compute_update, p));
    TRY(trainer_expect(t, p, NULL, LATE_UPDATED));
    t->at.step++;
    t->gathered = t->gathered_samples = 0;
    return BRAID_OK;
}
