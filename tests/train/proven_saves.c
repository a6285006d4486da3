/*
 * Tests of what may be saved: parameters that are finite, but so large that the next loss is no number, never replace
 * a good checkpoint, wherever the save comes from. That a run is the same with and without such a look is in
 * tests/train/trainer.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

#define EPOCH 6
#define WILD 1e30 /* a rate whose first update leaves parameters that no loss can be computed from */

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static void says(const char *words) {
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

static int stop_at_once(void *user, const braid_train_event *e) {
    (void)user;
    return e->kind == BRAID_TRAIN_EVENT_STEP;
}

/* A good checkpoint of so many updates. */
static braid_train_options begin(int64_t steps, int accumulate) {
    small_run r;
    braid_train_options o = small_run_options();
    assert_int_equal(system("rm -rf run old"), 0);
    o.folder = "run";
    o.steps = steps;
    o.accumulate = accumulate;
    o.no_validation = 1;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("cp -r run old"), 0);
    o.resume = 1;
    o.steps = 0;
    o.learning_rate = WILD;
    return o;
}

/* The run ends at its first update; the folder is as it was, and with a usual rate the run goes on from it. */
static void ends_at(braid_train_options o, int64_t step) {
    small_run r;
    char words[128];
    ok(small_run_open(&r, &o));
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DIVERGED);
    snprintf(words, sizeof words, "step %lld: checkpoint: expected a finite loss of the parameters after this step",
             (long long)step);
    says(words);
    int64_t each = o.accumulate ? o.accumulate : 1; /* of the 6 batches of 8 samples in an epoch */
    int64_t first = (step * each - 1) % 6 * 8;
    snprintf(words, sizeof words, "nothing was saved; the last update was learned in a batch of samples %lld, %lld, ",
             (long long)first, (long long)first + 1);
    says(words);
    says("the last good checkpoint is run/last.safetensors: go on from it with --resume and a lower learning rate");
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_DIVERGED);
    small_run_close(&r);
    assert_int_equal(system("diff -r run old"), 0);
    o.learning_rate = 1e-3;
    o.event = NULL;
    o.steps = step + 3;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(small_run_step(&r), step + 3);
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

static void saves_in_between(void **state) {
    (void)state;
    for (int accumulate = 1; accumulate <= 2; accumulate++) {
        braid_train_options o = begin(2, accumulate);
        o.save_steps = 1;
        ends_at(o, 3);
    }
}

static void saves_of_a_run_that_is_stopped(void **state) {
    (void)state;
    braid_train_options o = begin(3, 1);
    o.event = stop_at_once;
    ends_at(o, 4);
}

static void the_last_save(void **state) {
    (void)state;
    braid_train_options o = begin(3, 1);
    o.steps = 4;
    ends_at(o, 4);
}

/* Neither last, nor best, nor a row of the metrics. */
static void epochs_without_validation(void **state) {
    (void)state;
    ends_at(begin(EPOCH - 1, 1), EPOCH);
    assert_int_equal(access("old/best.safetensors", F_OK), -1);
    ends_at(begin(2 * EPOCH - 1, 1), 2 * EPOCH);
    assert_int_equal(access("old/best.safetensors", F_OK), 0);
}

/* Without a checkpoint there is none, and nothing else is left. */
static void the_first_save(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = small_run_options();
    o.folder = "a/b/run";
    o.save_steps = 1;
    o.learning_rate = WILD;
    ok(small_run_open(&r, &o));
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DIVERGED);
    says("there is no checkpoint yet");
    small_run_close(&r);
    assert_int_equal(access("a", F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(saves_in_between), IN_FOLDER(saves_of_a_run_that_is_stopped),
        IN_FOLDER(the_last_save),    IN_FOLDER(epochs_without_validation),
        IN_FOLDER(the_first_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
