/*
 * Tests of what may change when a run goes on, and what may not: patience and epochs behind an early stop, with the
 * schedule that follows from them; the monitor, the number of samples and how they are drawn. And of what is told of
 * the whole run then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "train/history.h"

#define NOTE_BYTES 512

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

/* Nothing is ever so much better than the first epoch. */
static braid_train_options never_better(void) {
    braid_train_options o = small_run_options();
    o.folder = "run";
    o.min_delta = 100;
    o.patience = 2;
    o.epochs = 20;
    return o;
}

/* The epochs that are behind the run when it is over. */
static int64_t runs_to(const braid_train_options *o) {
    small_run r;
    braid_train_event place;
    ok(small_run_open(&r, o));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    braid_trainer_place(r.trainer, &place);
    small_run_close(&r);
    return place.epoch;
}

static void an_early_stop_is_not_for_ever(void **state) {
    (void)state;
    braid_train_options o = never_better();
    assert_int_equal(runs_to(&o), 4);
    o.resume = 1;
    assert_int_equal(runs_to(&o), 4);
    o.patience = 1;
    assert_int_equal(runs_to(&o), 4);
    o.patience = 5; /* of which three are used up */
    assert_int_equal(runs_to(&o), 7);
    o.epochs = 30; /* counted anew */
    assert_int_equal(runs_to(&o), 13);
    assert_int_equal(runs_to(&o), 13);
    o.patience = 0;
    assert_int_equal(runs_to(&o), 30);
    assert_int_equal(memory_live(), 0);
}

/* Told behind a resume, before any update of it: the rate of the last one. */
static void the_rate_of_the_last_update_is_known(void **state) {
    small_run r;
    braid_train_event before, behind;
    (void)state;
    braid_train_options o = never_better();
    o.steps = 9;
    o.schedule = "cosine:each=step";
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    braid_trainer_place(r.trainer, &before);
    small_run_close(&r);
    o.resume = 1;
    ok(small_run_open(&r, &o));
    braid_trainer_place(r.trainer, &behind);
    small_run_close(&r);
    assert_true(before.learning_rate > 0 && before.learning_rate == behind.learning_rate);
}

/* Without epochs and steps a run is as long as it began; with steps alone, at least as long as they take. */
static void a_run_is_as_long_as_it_began(void **state) {
    int64_t epochs = 0, steps = 0;
    (void)state;
    for (int round = 0; round < 4; round++) {
        small_run r;
        braid_train_options o = never_better();
        o.resume = round > 0;
        o.epochs = round ? 0 : 3;
        o.steps = (int64_t[]){4, 0, 9, 100}[round];
        ok(small_run_open(&r, &o));
        braid_trainer_length(r.trainer, &epochs, &steps);
        assert_int_equal(epochs, round < 3 ? 3 : 17); /* of 6 updates */
        assert_int_equal(steps, ((int64_t[]){4, 4, 9, 100}[round]));
        ok(braid_trainer_run(r.trainer));
        assert_int_equal(small_run_step(&r), ((int64_t[]){4, 4, 9, 18 + 6}[round]));
        small_run_close(&r);
    }
}

/* ---- Callers -------------------------------------------------------------------------------- */

static braid_train_source plain;
static int batches_given;

/* The second batch has a label, its fourth, that is no class. */
static braid_status next_with_a_bad_label(void *user, braid_part part, braid_train_batch *batch) {
    static int32_t labels[8];
    braid_status status = plain.next(user, part, batch);
    if (status || batch->count != 8 || ++batches_given != 2) return status;
    memcpy(labels, batch->labels, sizeof labels);
    labels[3] = 99;
    batch->labels = labels;
    return BRAID_OK;
}

/* Samples without ids are called by their place in the epoch. */
static void samples_have_their_place(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = small_run_options();
    plain = o.source;
    o.source.next = next_with_a_bad_label;
    batches_given = 0;
    ok(small_run_open(&r, &o));
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_message(), "sample 11: expected a label from 0 to 2, got 99"));
    small_run_close(&r);
}

static void what_is_in_no_list_is_refused(void **state) {
    small_run r;
    (void)state;
    for (int j = 0; j < 2; j++) {
        braid_train_options o = small_run_options();
        if (j) o.step.loss = (braid_loss)77;
        if (!j) o.step.optimiser = (braid_optimiser)99;
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
        assert_non_null(strstr(braid_message(), j ? "numbers 1 and 77" : "numbers 99 and 0"));
        small_run_close(&r);
    }
}

/* A run that is done may be asked to run again: nothing happens. */
static void there_is_one_summary(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = never_better();
    o.epochs = 2;
    ok(small_run_open(&r, &o));
    for (int j = 0; j < 3; j++) ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("test $(grep -c summary run/metrics.jsonl) = 1"), 0);
}

static bool has_bytes(const char *name, const char *bytes, size_t count) {
    char *text, path[64];
    size_t all;
    snprintf(path, sizeof path, "run/%s", name);
    ok(files_read(path, 1 << 20, BRAID_ERROR_DATA, &text, &all));
    bool found = false;
    for (size_t at = 0; at + count <= all && !found; at++) found = memcmp(text + at, bytes, count) == 0;
    memory_free(text);
    return found;
}

/* A run that was killed between the end of an epoch, which is told to TensorBoard, and its checkpoint: the end is told
 * again, and the first time is forgotten (an event: step 6, a session that starts). */
static void the_end_of_an_epoch_is_told_once(void **state) {
    static const char start[] = {0x10, 6, 0x3a, 2, 8, 1};
    small_run r;
    (void)state;
    braid_train_options o = never_better();
    o.steps = 6;
    o.save_steps = 6;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("mv run/last.previous.safetensors run/last.safetensors && mv run/events* run/first"), 0);
    assert_false(has_bytes("first", start, sizeof start));
    o.resume = 1;
    o.steps = 12;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("mv run/events* run/second"), 0);
    assert_true(has_bytes("second", start, sizeof start));
}

static void other_samples_and_monitors_are_named(void **state) {
    static const char *const words[] = {"got monitor val_loss in place of val_accuracy",
                                        "got samples 47 in place of 48", "got stratified 1 in place of 0"};
    (void)state;
    braid_train_options began = never_better();
    began.samples = 48;
    assert_int_equal(runs_to(&began), 4);
    began.resume = 1;
    for (int j = 0; j < 3; j++) {
        small_run r;
        braid_train_options o = began;
        if (j == 0) o.monitor = "val_loss";
        if (j == 1) o.samples = 47;
        if (j == 2) o.stratified = 1;
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
        if (!strstr(braid_message(), words[j])) fail_msg("expected \"%s\" in: %s", words[j], braid_message());
        small_run_close(&r);
    }
    began.monitor = "val_accuracy"; /* the default, said */
    assert_int_equal(runs_to(&began), 4);
    assert_int_equal(memory_live(), 0);
}

/* A source whose validation samples cannot be read, or are no numbers, or have no memory. */
typedef struct broken {
    braid_train_source inner;
    braid_status status;
} broken;

static braid_status broken_start(void *user, braid_part part, int64_t epoch, int64_t first) {
    const broken *b = user;
    return b->inner.start(b->inner.user, part, epoch, first);
}

static braid_status broken_next(void *user, braid_part part, braid_train_batch *batch) {
    const broken *b = user;
    return part == BRAID_PART_VALIDATE ? b->status : b->inner.next(b->inner.user, part, batch);
}

/* An epoch that cannot be validated is not lost: the run goes on behind its last update, to the same weights. */
static void a_bad_validation(braid_status why) {
    small_run r;
    float whole[6 * 12], mended[6 * 12];
    braid_train_options o = small_run_options();
    o.epochs = 2;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    ok(braid_model_read(r.model, "layers.0.fc.weight", whole, sizeof whole));
    small_run_close(&r);
    broken b = {o.source, why};
    braid_train_options bad = o;
    bad.folder = "run";
    bad.source = (braid_train_source){broken_start, broken_next, &b};
    ok(small_run_open(&r, &bad));
    assert_int_equal(braid_trainer_run(r.trainer), why);
    small_run_close(&r);
    o.folder = "run";
    o.resume = 1;
    ok(small_run_open(&r, &o));
    assert_int_equal(small_run_step(&r), 6);
    ok(braid_trainer_run(r.trainer));
    ok(braid_model_read(r.model, "layers.0.fc.weight", mended, sizeof mended));
    small_run_close(&r);
    assert_memory_equal(whole, mended, sizeof whole);
    assert_int_equal(memory_live(), 0);
    assert_int_equal(system("rm -r run"), 0);
}

static void a_bad_validation_costs_no_epoch(void **state) {
    (void)state;
    a_bad_validation(BRAID_ERROR_DATA);
    a_bad_validation(BRAID_ERROR_DIVERGED);
    a_bad_validation(BRAID_ERROR_MEMORY);
}

/* A source that passes over batch 2 of every epoch. */
typedef struct gappy {
    braid_train_source inner;
    int64_t at;
} gappy;

static braid_status gappy_start(void *user, braid_part part, int64_t epoch, int64_t first) {
    gappy *g = user;
    g->at = first;
    return g->inner.start(g->inner.user, part, epoch, first);
}

static braid_status gappy_next(void *user, braid_part part, braid_train_batch *batch) {
    gappy *g = user;
    int gap = part == BRAID_PART_TRAIN && g->at == 2;
    if (gap) ok(g->inner.next(g->inner.user, part, batch));
    ok(g->inner.next(g->inner.user, part, batch));
    batch->left_out = gap;
    g->at += 1 + gap;
    return BRAID_OK;
}

/* A run that stops behind a batch that was passed over goes on with the one that follows. */
static void batches_passed_over_count(void **state) {
    small_run r;
    float weights[2][6 * 12];
    (void)state;
    for (int parts = 0; parts < 2; parts++) {
        braid_train_options o = small_run_options();
        gappy g = {.inner = o.source};
        o.source = (braid_train_source){gappy_start, gappy_next, &g};
        o.epochs = 2;
        o.folder = parts ? "parts" : "whole";
        for (o.steps = parts ? 3 : 8; o.steps <= 8; o.steps += 5) {
            ok(small_run_open(&r, &o));
            ok(braid_trainer_run(r.trainer));
            assert_int_equal(small_run_step(&r), o.steps);
            ok(braid_model_read(r.model, "layers.0.fc.weight", weights[parts], sizeof weights[parts]));
            small_run_close(&r);
            o.resume = 1;
        }
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    assert_int_equal(memory_live(), 0);
}

/* The rates of all epochs of a run, from its metrics. */
static void rates_are(const double *expected, size_t count) {
    json_t *columns;
    ok(history_read("run/metrics.jsonl", &columns));
    const json_t *rates = json_object_get(columns, "learning_rates");
    assert_int_equal(json_array_size(rates), count);
    for (size_t j = 0; j < count; j++) {
        double rate = json_number_value(json_array_get(json_array_get(rates, j), 0));
        if (fabs(rate - expected[j]) > 1e-12) fail_msg("epoch %zu: %.15g, not %.15g", j, rate, expected[j]);
    }
    json_decref(columns);
}

/* 1e-3 (1 + cos(pi e / t_max)) / 2 */
static double cosine(int epoch, int t_max) { return 5e-4 * (1 + cos(acos(-1.0) * epoch / t_max)); }

/* A cosine without a length of its own goes over the whole run, also when that became longer; one with a length keeps
 * it. */
static void a_longer_run_has_a_longer_schedule(void **state) {
    (void)state;
    for (int said = 0; said < 2; said++) {
        double expected[8];
        braid_train_options o = small_run_options();
        assert_int_equal(system("rm -rf run"), 0);
        o.folder = "run";
        o.epochs = 4;
        o.schedule = said ? "cosine:t_max=4" : NULL;
        assert_int_equal(runs_to(&o), 4);
        o.resume = 1;
        o.schedule = NULL;
        assert_int_equal(runs_to(&o), 4);
        o.epochs = 8;
        assert_int_equal(runs_to(&o), 8);
        for (int e = 0; e < 8; e++) expected[e] = cosine(e, e < 4 || said ? 4 : 8);
        rates_are(expected, 8);
    }
    assert_int_equal(memory_live(), 0);
}

#define QUICK 0.05 /* a rate at which each epoch of the first ones is better */

/* The rate behind every epoch, as the metric says; larger ones are better, or smaller ones. */
static void plateau_of(const char *metric, bool larger, double *expected, size_t count) {
    double best = NAN, rate = QUICK;
    json_t *columns;
    ok(history_read("run/metrics.jsonl", &columns));
    for (size_t j = 0; j < count; j++) {
        double now = json_number_value(json_array_get(json_object_get(columns, metric), j));
        bool better = j == 0 || (larger ? now > best * (1 + 1e-4) : now < best * (1 - 1e-4));
        if (better) best = now;
        if (!better) rate /= 2;
        expected[j] = rate;
    }
    json_decref(columns);
}

/* What a plateau takes for better is what the monitor does, also in a run that goes on, and whatever was typed. */
static void a_plateau_follows_the_monitor(void **state) {
    static const char *const rules[] = {"plateau:patience=0", "plateau:patience=0:maximize=0",
                                        "plateau:patience=0:maximize=1"};
    (void)state;
    for (int j = 0; j < 6; j++) {
        double expected[8], backwards[8];
        bool larger = j < 3;
        braid_train_options o = small_run_options();
        assert_int_equal(system("rm -rf run"), 0);
        o.folder = "run";
        o.schedule = rules[j % 3];
        o.learning_rate = QUICK;
        o.monitor = larger ? NULL : "val_loss"; /* NULL: val_accuracy */
        o.epochs = 4;
        assert_int_equal(runs_to(&o), 4);
        o.resume = 1;
        o.schedule = NULL;
        o.epochs = 8;
        assert_int_equal(runs_to(&o), 8);
        plateau_of(larger ? "val_accuracy" : "val_loss", larger, expected, 8);
        plateau_of(larger ? "val_accuracy" : "val_loss", !larger, backwards, 8);
        rates_are(expected, 8);
        assert_true(expected[7] > backwards[7]);
    }
    assert_int_equal(memory_live(), 0);
}

/* Metrics of the best epoch are told by a run that goes on and finds no better one; and there is one summary of all. */
static void the_best_epoch_is_remembered(void **state) {
    small_run r;
    braid_train_metrics first, now;
    char *text;
    size_t bytes;
    (void)state;
    braid_train_options o = small_run_options();
    o.folder = "run";
    o.epochs = 3;
    o.monitor = "val_loss";
    ok(small_run_open(&r, &o));
    assert_int_equal(braid_trainer_best(r.trainer, &first), 0);
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_best(r.trainer, &first), 1);
    assert_true(first.loss > 0 && first.accuracy > 0 && first.samples == 48 && first.batches == 6);
    small_run_close(&r);
    o.resume = 1;
    for (o.epochs = 3; o.epochs <= 5; o.epochs += 2) {
        o.learning_rate = o.epochs == 5 ? 10 : 0; /* so that nothing becomes better */
        ok(small_run_open(&r, &o));
        ok(braid_trainer_run(r.trainer));
        assert_int_equal(braid_trainer_best(r.trainer, &now), 1);
        assert_memory_equal(&first, &now, sizeof now);
        small_run_close(&r);
        ok(files_read("run/metrics.jsonl", 1 << 20, BRAID_ERROR_DATA, &text, &bytes));
        const char *summary = strstr(text, "\"kind\":\"summary\"");
        assert_non_null(summary);
        assert_null(strstr(summary + 1, "\"kind\":"));
        memory_free(text);
    }
    assert_int_equal(memory_live(), 0);
}

static int hear(void *user, const braid_train_event *e) {
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) snprintf(user, NOTE_BYTES, "%s", e->text);
    return 0;
}

/* Runs of so many epochs in all, of which the last is the best; what is told of it. */
static braid_train_metrics best_of(braid_train_options *o, int64_t epochs) {
    small_run r;
    braid_train_metrics best = {0};
    o->epochs = epochs;
    ok(small_run_open(&r, o));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_best(r.trainer, &best), 1);
    small_run_close(&r);
    o->resume = 1;
    return best;
}

/* A best epoch that is lost is a note of a run that goes on, and no failure: the message is that of the last one. The
 * best one is then that of the older file, or the next, however bad. */
static void a_lost_best_epoch_is_a_note(void **state) {
    static const char *const notes[] = {"the next epoch is the best", "went back to run/best.previous.safetensors"};
    (void)state;
    for (int older = 0; older < 2; older++) {
        small_run r;
        char note[NOTE_BYTES] = "";
        braid_train_options o = small_run_options();
        assert_int_equal(system("rm -rf run"), 0);
        o.folder = "run";
        o.monitor = "val_loss";
        braid_train_metrics now, first = best_of(&o, 1), second = older ? best_of(&o, 2) : first;
        assert_true(second.loss <= first.loss);
        assert_int_equal(system(": > run/best.safetensors"), 0);
        o.event = hear;
        o.user = note;
        assert_int_equal(braid_trainer_run(NULL), BRAID_ERROR_ARGUMENT);
        ok(small_run_open(&r, &o));
        assert_string_equal(braid_message(), "braid_trainer_run: expected a trainer, got NULL");
        if (!strstr(note, notes[older])) fail_msg("expected \"%s\" in: %s", notes[older], note);
        assert_int_equal(braid_trainer_best(r.trainer, &now), older);
        if (older) assert_memory_equal(&now, &first, sizeof now);
        small_run_close(&r);
        o.learning_rate = 10; /* nothing becomes better */
        now = best_of(&o, older ? 3 : 2);
        assert_true(older ? now.loss == first.loss : now.loss > first.loss);
        if (!older) assert_int_equal(system("cmp run/best.safetensors run/last.safetensors"), 0);
    }
    assert_int_equal(memory_live(), 0);
}

/* The best epoch is that of validation samples, or of training ones: a run goes on as it began. */
static void validation_is_as_it_was(void **state) {
    static const char *const words[] = {"expected a set with validation samples, as the run began, got none",
                                        "expected no validation samples, as the run began, got some"};
    (void)state;
    for (int without = 0; without < 2; without++) {
        small_run r;
        braid_train_options o = small_run_options();
        assert_int_equal(system("rm -rf run"), 0);
        o.folder = "run";
        o.epochs = 1;
        o.no_validation = without;
        assert_int_equal(runs_to(&o), 1);
        o.resume = 1;
        assert_int_equal(runs_to(&o), 1);
        o.no_validation = !without;
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
        if (!strstr(braid_message(), words[without])) fail_msg("%s", braid_message());
        small_run_close(&r);
    }
    assert_int_equal(memory_live(), 0);
}

/* A run that never did a step leaves nothing, but for a folder that was there. */
static void nothing_is_left_of_a_run_that_did_not_begin(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = small_run_options();
    o.folder = "a/run//";
    for (int there = 0; there < 2; there++) {
        ok(small_run_open(&r, &o));
        assert_int_equal(access("a/run", F_OK), 0);
        small_run_close(&r);
        assert_int_equal(access(there ? "a/run" : "a", F_OK), there - 1);
        if (!there) assert_int_equal(system("mkdir -p a/run"), 0);
    }
    assert_int_equal(rmdir("a/run"), 0);
    o.schedule = "nosuch"; /* refused behind the folder */
    assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
    small_run_close(&r);
    assert_int_equal(rmdir("a"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(samples_have_their_place),
        IN_FOLDER(what_is_in_no_list_is_refused),
        IN_FOLDER(there_is_one_summary),
        IN_FOLDER(the_rate_of_the_last_update_is_known),
        IN_FOLDER(a_run_is_as_long_as_it_began),
        IN_FOLDER(the_end_of_an_epoch_is_told_once),
        IN_FOLDER(an_early_stop_is_not_for_ever),
        IN_FOLDER(other_samples_and_monitors_are_named),
        IN_FOLDER(a_bad_validation_costs_no_epoch),
        IN_FOLDER(a_longer_run_has_a_longer_schedule),
        IN_FOLDER(batches_passed_over_count),
        IN_FOLDER(a_plateau_follows_the_monitor),
        IN_FOLDER(the_best_epoch_is_remembered),
        IN_FOLDER(nothing_is_left_of_a_run_that_did_not_begin),
        IN_FOLDER(a_lost_best_epoch_is_a_note),
        IN_FOLDER(validation_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
