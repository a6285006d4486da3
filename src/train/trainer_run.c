/*
 * Epochs: batches that are learned from, then batches that are looked at, then what follows from both.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "train/trainer.h"

/* ---- Telling ------------------------------------------------------------------------------ */

braid_train_metrics tally_metrics(const tally *sum, int has_labels) {
    return (braid_train_metrics){
        .loss = sum->batches ? sum->loss / (double)sum->batches : NAN,
        .accuracy = sum->samples && has_labels ? (double)sum->correct / (double)sum->samples : NAN,
        .samples = sum->samples,
        .batches = sum->batches,
    };
}

void braid_trainer_place(const braid_trainer *t, braid_train_event *place) {
    if (!t || !place) return;
    *place = (braid_train_event){
        .kind = BRAID_TRAIN_EVENT_EPOCH,
        .epoch = t->at.epoch,
        .batch = t->at.batch,
        .step = t->at.step,
        .learning_rate = t->rate,
        .norm = t->norm,
        .train = tally_metrics(&t->at.train, t->has_labels),
        .validate = t->validated,
    };
}

void trainer_tell(braid_trainer *t, braid_train_event_kind kind, const braid_train_metrics *validate, int best,
                  const char *text) {
    braid_train_event event;
    if (!t->options.event) return;
    braid_trainer_place(t, &event);
    event.kind = kind;
    event.best = best;
    event.text = text;
    if (validate) event.validate = *validate;
    if (kind == BRAID_TRAIN_EVENT_VALIDATE && validate) event.batch = validate->batches;
    if (t->options.event(t->options.user, &event)) t->stop = true;
}

/* ---- Looking ------------------------------------------------------------------------------ */

static braid_status blank(braid_trainer *t, const pass *p, int blanked) {
    for (int i = 0; i < t->streams && p->mask; i++) {
        memset(t->blanked, i == blanked, (size_t)p->batch);
        TRY(braid_plan_set_mask(p->plan, i, t->blanked));
    }
    return BRAID_OK;
}

static braid_status look(braid_trainer *t, const braid_train_batch *batch, int blanked, tally *sum) {
    pass *p;
    TRY(trainer_pass(t, BRAID_PHASE_EVAL, batch->count, blanked >= 0, &p));
    TRY(feed_batch(&p->feed, batch, 0));
    TRY(blank(t, p, blanked));
    TRY(braid_plan_run(p->plan, BRAID_SEGMENT_FORWARD));
    return trainer_read_tally(t, p, sum);
}

/* All batches of a part, or as many as the caller likes. */
static braid_status look_at_all(braid_trainer *t, braid_part part, int blanked, tally *sum) {
    const braid_train_source *source = &t->options.source;
    *sum = (tally){0};
    TRY(source->start(source->user, part, t->at.epoch, 0));
    while (!t->stop) {
        braid_train_batch batch = {0};
        TRY(source->next(source->user, part, &batch));
        if (batch.count == 0) break;
        TRY(look(t, &batch, blanked, sum));
        braid_train_metrics sofar = tally_metrics(sum, t->has_labels);
        trainer_tell(t, BRAID_TRAIN_EVENT_VALIDATE, &sofar, 0, NULL);
    }
    return BRAID_OK;
}

braid_status braid_trainer_evaluate(braid_trainer *t, braid_part part, int blanked, braid_train_metrics *metrics) {
    tally sum;
    if (!t || !metrics)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_trainer_evaluate: expected a trainer and a place for metrics, got NULL");
    if ((unsigned)part >= BRAID_PART_COUNT || blanked < -1 || blanked >= t->streams)
        return fail(BRAID_ERROR_ARGUMENT,
                    "braid_trainer_evaluate: expected a part, and a stream from 0 to %d or -1, got %d and %d",
                    t->streams - 1, (int)part, blanked);
    TRY(look_at_all(t, part, blanked, &sum));
    *metrics = tally_metrics(&sum, t->has_labels);
    return BRAID_OK;
}

/* ---- Learning ----------------------------------------------------------------------------- */

static int steps_are_done(const braid_trainer *t) { return t->options.steps > 0 && t->at.step >= t->options.steps; }

int braid_trainer_is_done(const braid_trainer *t) {
    return !t || t->at.epoch >= t->options.epochs || t->at.stopping.stopped || steps_are_done(t);
}

/* Learns from the rest of an epoch; *whole: it came to its end. Leaves between two updates alone. */
static braid_status learn_all(braid_trainer *t, bool *whole) {
    const braid_train_source *source = &t->options.source;
    *whole = false;
    TRY(source->start(source->user, BRAID_PART_TRAIN, t->at.epoch, t->at.batch));
    for (;;) {
        braid_train_batch batch = {0};
        if (t->stop && t->gathered == 0) return BRAID_OK;
        TRY(source->next(source->user, BRAID_PART_TRAIN, &batch));
        if (batch.count == 0) break;
        if (steps_are_done(t)) return BRAID_OK;
        TRY(trainer_learn(t, &batch));
        trainer_tell(t, BRAID_TRAIN_EVENT_STEP, NULL, 0, NULL);
        int64_t every = t->options.save_steps;
        if (every > 0 && t->gathered == 0 && t->at.step % every == 0) TRY(braid_trainer_save(t));
    }
    TRY(trainer_update(t));
    *whole = true;
    if (t->at.train.batches > 0) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, "trainer: expected batches from the source in epoch %lld, got none",
                (long long)t->at.epoch);
}

/* What follows from the metrics of an epoch. */
static braid_status end_epoch(braid_trainer *t, const braid_train_metrics *validate) {
    braid_train_metrics train = tally_metrics(&t->at.train, t->has_labels);
    const braid_train_metrics *seen = t->options.no_validation ? &train : validate;
    double metric = t->stopping.monitor == STOPPING_VAL_LOSS ? seen->loss : seen->accuracy;
    int best = stopping_observe(&t->best, &t->at.best, t->at.epoch, metric);
    schedule_observe(&t->schedule, &t->at.schedule, t->at.epoch, metric);
    stopping_observe(&t->stopping, &t->at.stopping, t->at.epoch, metric);
    if (t->options.patience == 0) t->at.stopping.stopped = false;
    t->validated = *validate;
    t->at.epoch++;
    t->at.batch = 0;
    t->at.train = (tally){0};
    TRY(trainer_record(t, &train));
    if (best) TRY(trainer_save_best(t));
    TRY(braid_trainer_save(t));
    if (t->options.event) {
        braid_train_event event;
        braid_trainer_place(t, &event);
        event.epoch--;
        event.train = train;
        event.best = best;
        if (t->options.event(t->options.user, &event)) t->stop = true;
    }
    return BRAID_OK;
}

static braid_status run_epoch(braid_trainer *t) {
    bool whole;
    tally sum = {0};
    TRY(learn_all(t, &whole));
    if (!whole) return braid_trainer_save(t);
    if (!t->options.no_validation && !t->stop) TRY(look_at_all(t, BRAID_PART_VALIDATE, -1, &sum));
    if (t->stop) return braid_trainer_save(t); /* the epoch ends when the run goes on */
    braid_train_metrics validate = tally_metrics(&sum, t->has_labels);
    return end_epoch(t, &validate);
}

braid_status braid_trainer_run(braid_trainer *t) {
    if (!t) return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_run: expected a trainer, got NULL");
    t->stop = false;
    while (!braid_trainer_is_done(t) && !t->stop) TRY(run_epoch(t));
    int ended = t->at.epoch >= t->options.epochs || t->at.stopping.stopped; /* a limit on steps can be raised later */
    return ended ? trainer_record_end(t) : BRAID_OK;
}
