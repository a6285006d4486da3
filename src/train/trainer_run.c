/*
 * Epochs: batches that are learned from, then batches that are looked at (trainer_look.c), then what follows from both.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

#include "train/trainer.h"

#define MESSAGE_BYTES 1024

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
        .loss_scale = t->at.scaler.scale,
        .skipped = t->at.scaler.all_skipped,
        .train = tally_metrics(&t->at.train, t->has_labels),
        .validate = t->validated,
    };
}

void braid_trainer_length(const braid_trainer *t, int64_t *epochs, int64_t *steps) {
    if (!t || !epochs || !steps) return;
    *epochs = t->options.epochs;
    *steps = t->options.steps;
}

int braid_trainer_best(const braid_trainer *t, braid_train_metrics *metrics) {
    if (!t || !metrics || t->at.best_metrics.batches == 0) return 0;
    *metrics = t->at.best_metrics;
    return 1;
}

void trainer_tell(braid_trainer *t, const braid_train_event *event) {
    if (t->options.event && t->options.event(t->options.user, event)) t->stop = true;
}

/* ---- Learning ----------------------------------------------------------------------------- */

static int steps_are_done(const braid_trainer *t) { return t->options.steps > 0 && t->at.step >= t->options.steps; }

int braid_trainer_is_done(const braid_trainer *t) {
    return !t || t->at.epoch >= t->options.epochs || t->at.stopping.stopped || steps_are_done(t);
}

static void tell_step(braid_trainer *t, int64_t samples) {
    braid_train_event event;
    braid_trainer_place(t, &event);
    event.kind = BRAID_TRAIN_EVENT_STEP;
    event.samples = samples;
    trainer_tell(t, &event);
}

/* One sample alone has no statistics where maps are 1x1: as the rest of an epoch of larger batches, or of a batch that
 * bad samples were left out of, it is left out. Where it is all that there is, it is learned from. */
static bool is_left_out(const braid_trainer *t, const braid_train_batch *batch) {
    bool is_rest = t->at.batch > 0 || t->options.samples > 1;
    return batch->count == 1 && is_rest && t->options.step.batch > 1;
}

/* Learns from the rest of an epoch; *whole: it came to its end. Leaves between two updates alone. */
static braid_status learn_all(braid_trainer *t, bool *whole) {
    const braid_train_source *source = &t->options.source;
    *whole = false;
    TRY(trainer_plan_first(t));
    TRY(source->start(source->user, BRAID_PART_TRAIN, t->at.epoch, t->at.batch));
    for (;;) {
        braid_train_batch batch = {0};
        if (t->stop && t->gathered == 0) return BRAID_OK;
        TRY(source->next(source->user, BRAID_PART_TRAIN, &batch));
        if (batch.stop) {
            t->stop = true;
            if (t->gathered == 0) return BRAID_OK;
            return fail(BRAID_ERROR_CHECK, "stopped between two batches of one update, which is lost");
        }
        if (batch.count == 0) break;
        if (is_left_out(t, &batch)) {
            t->at.batch += batch.left_out + 1;
            continue;
        }
        if (steps_are_done(t)) return BRAID_OK;
        t->at.batch += batch.left_out;
        TRY(trainer_learn(t, &batch));
        tell_step(t, batch.count);
        int64_t every = t->options.save_steps;
        if (every > 0 && t->gathered == 0 && t->at.step % every == 0) TRY(trainer_save_midway(t));
    }
    TRY(trainer_update(t));
    TRY(trainer_catch_up(t));
    TRY(trainer_check_epoch(t));
    *whole = true;
    if (t->at.train.batches > 0) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, "trainer: expected batches from the source in epoch %lld, got none",
                (long long)t->at.epoch);
}

/* What early stopping looks at. */
static double watched(const braid_trainer *t, const braid_train_metrics *train, const braid_train_metrics *validate) {
    const braid_train_metrics *seen = t->options.no_validation ? train : validate;
    return t->stopping.monitor == STOPPING_VAL_LOSS ? seen->loss : seen->accuracy;
}

static void observe(const braid_trainer *t, double metric, stopping_state *state) {
    stopping_observe(&t->stopping, state, t->at.epoch, metric);
    if (t->options.patience == 0) state->stopped = false;
}

/* What follows from the metrics of an epoch. */
static braid_status end_epoch(braid_trainer *t, const braid_train_metrics *validate) {
    braid_train_metrics train = tally_metrics(&t->at.train, t->has_labels);
    double metric = watched(t, &train, validate);
    TRY(trainer_prove_save(t));
    int best = stopping_observe(&t->best, &t->at.best, t->at.epoch, metric);
    if (best) t->at.best_metrics = validate->batches ? *validate : train;
    t->at.best_train_loss = fmin(t->at.best_train_loss, train.loss); /* of a NaN, the other one */
    schedule_observe(&t->schedule, &t->at.schedule, t->at.epoch, metric);
    observe(t, metric, &t->at.stopping);
    t->validated = *validate;
    t->at.epoch++;
    t->at.batch = 0;
    t->at.train = (tally){0};
    TRY(trainer_record(t, &train));
    if (best) TRY(trainer_save_best(t));
    TRY(trainer_save_midway(t));
    braid_train_event event;
    braid_trainer_place(t, &event);
    event.epoch--;
    event.train = train;
    event.without = t->looked_without ? t->without : NULL;
    event.best = best;
    trainer_tell(t, &event);
    return BRAID_OK;
}

/* Are the streams looked at one by one behind this epoch? Behind the last one always. */
static bool streams_are_due(const braid_trainer *t, const braid_train_metrics *validate) {
    braid_train_metrics train = tally_metrics(&t->at.train, t->has_labels);
    stopping_state after = t->at.stopping;
    if (t->options.stream_epochs == 0 || t->streams < 2) return false;
    observe(t, watched(t, &train, validate), &after);
    return (t->at.epoch + 1) % t->options.stream_epochs == 0 || t->at.epoch + 1 >= t->options.epochs || after.stopped;
}

/* Samples that cannot be looked at cost no epoch: what was learned is saved, and looked at when the run goes on. Of a
 * device that is lost there is nothing to save, and what has diverged replaces no good checkpoint. */
static braid_status keep_epoch(braid_trainer *t, braid_status status) {
    char why[MESSAGE_BYTES], note[MESSAGE_BYTES + 16];
    if (status == BRAID_OK || status == BRAID_ERROR_DEVICE || t->diverged) return status;
    snprintf(why, sizeof why, "%s", fail_message());
    if (trainer_save(t) != BRAID_OK) {
        snprintf(note, sizeof note, "not saved: %s", fail_message());
        trainer_tell(t, &(braid_train_event){.kind = BRAID_TRAIN_EVENT_NOTE, .text = note});
    }
    return fail(status, "%s", why);
}

static braid_status validate_all(braid_trainer *t, tally *sum) {
    const braid_evaluate_options all = {.part = BRAID_PART_VALIDATE};
    t->validating = true;
    braid_status status = trainer_look(t, &all, sum);
    t->validating = false;
    if (sum->batches > 0) t->proven = t->at.step;
    return keep_epoch(t, status);
}

static braid_status validate_without(braid_trainer *t) {
    t->validating = true;
    braid_status status = trainer_look_without(t);
    t->validating = false;
    return keep_epoch(t, status);
}

static braid_status run_epoch(braid_trainer *t) {
    bool whole;
    tally sum = {0};
    TRY(learn_all(t, &whole));
    if (!whole) return trainer_save(t);
    if (!t->options.no_validation && !t->stop) TRY(validate_all(t, &sum));
    braid_train_metrics validate = tally_metrics(&sum, t->has_labels);
    t->looked_without = !t->stop && streams_are_due(t, &validate);
    if (t->looked_without) TRY(validate_without(t));
    return t->stop ? trainer_save(t) : end_epoch(t, &validate); /* the epoch ends when the run goes on */
}

braid_status trainer_check_whole(const braid_trainer *t, const char *caller) {
    if (!t->torn) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT,
                "%s: expected a run whose steps came to their end, got one whose last step failed half done; resume it "
                "from its last checkpoint",
                caller);
}

braid_status braid_trainer_run(braid_trainer *t) {
    if (!t) return fail(BRAID_ERROR_ARGUMENT, "braid_trainer_run: expected a trainer, got NULL");
    TRY(trainer_check_whole(t, "braid_trainer_run"));
    if (t->restored) return BRAID_OK;
    t->stop = false;
    bool goes_on = !braid_trainer_is_done(t);
    while (!braid_trainer_is_done(t) && !t->stop) TRY(run_epoch(t));
    TRY(trainer_settle(t));
    int ended = t->at.epoch >= t->options.epochs || t->at.stopping.stopped; /* a limit on steps can be raised later */
    bool had = !goes_on && t->history.had_summary;
    if (!t->has_summary && (ended || had)) TRY(trainer_record_end(t));
    t->has_summary = ended || had;
    return t->options.restore_best && braid_trainer_is_done(t) ? trainer_restore_best(t) : BRAID_OK;
}
