/*
 * Tests of what a feed gives the op that makes inputs of bytes: the tables of normalisation and augmentation. A run
 * that goes on has the same ones; and a trainer takes no negative counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/memory.h"
#include "ops/augment.h"
#include "tests/support/folder.h"
#include "tests/support/given.h"
#include "tests/support/trial.h"
#include "train/feed.h"

enum { BATCH = 2, SIDE = 32 };

static trial open_images(void) {
    return trial_open(&(trial_setup){.kind = "linet18",
                                     .net = {.streams = 2, .channels = {3, 1}, .classes = 3, .width = 0.125},
                                     .request = {.batch = BATCH, .size = {SIDE, SIDE}}});
}

static braid_train_options options_of(int augment) {
    return (braid_train_options){.step = {.batch = BATCH, .size = {SIDE, SIDE}},
                                 .input = BRAID_DTYPE_U8,
                                 .augment = augment,
                                 .mean = {{0.5, 0.25, 0.125}, {0.75}},
                                 .std = {{2, 3, 4}, {0}}};
}

/* The table of stream i of the operand with this name, which is on the CPU. */
static const float *table(const feed *f, const char *name, int i) {
    for (int j = 0; j < f->operand_count; j++) {
        braid_operand_info info;
        OK(braid_op_operand(f->op, j, &info));
        if (strcmp(info.name, name) == 0) return f->operands[j].plane[i];
    }
    fail_msg("no operand %s", name);
    return NULL;
}

static void augmentation_has_its_settings(void **state) {
    trial t = open_images();
    feed f;
    const braid_train_options o = options_of(1);
    (void)state;
    OK(feed_create(&f, t.model, t.plan, &o, BRAID_PHASE_TRAIN, BATCH));
    for (int i = 0; i < 2; i++) {
        const float *row = table(&f, "settings", i);
        assert_true(row[AUGMENT_KIND] == (i == 0)); /* colour, then depth */
        assert_true(row[AUGMENT_NUMBER] == (float)i);
        assert_true(row[AUGMENT_FLIP_P] == 0.5f && row[AUGMENT_SCALE_LOW] == 0.9f);
        assert_true(row[AUGMENT_ERASE_P] == (i == 0 ? 0.17f : 0.10f));
    }
    feed_destroy(&f);
    trial_close(&t);
}

/* A deviation that nobody measured, 0, divides by 1. */
static void statistics_are_those_of_the_set(void **state) {
    static const float mean[2][3] = {{0.5f, 0.25f, 0.125f}, {0.75f}}, std[2][3] = {{2, 3, 4}, {1}};
    (void)state;
    for (int augment = 0; augment < 2; augment++) {
        trial t = open_images();
        feed f;
        const braid_train_options o = options_of(augment);
        OK(feed_create(&f, t.model, t.plan, &o, BRAID_PHASE_TRAIN, BATCH));
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(table(&f, "mean", i), mean[i], (i == 0 ? 3 : 1) * sizeof(float));
            assert_memory_equal(table(&f, "std", i), std[i], (i == 0 ? 3 : 1) * sizeof(float));
        }
        feed_destroy(&f);
        trial_close(&t);
    }
}

/* ---- A run that goes on ------------------------------------------------------------------------ */

static unsigned char pixels[BATCH * SIDE * SIDE * 3];
static int64_t served;

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    (void)user;
    (void)part;
    (void)epoch;
    served = first_batch;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    static const int32_t labels[BATCH] = {0, 1};
    (void)user;
    (void)part;
    if (served++ >= 1) return BRAID_OK;
    *batch = (braid_train_batch){.count = BATCH, .streams = {pixels, pixels}, .labels = labels};
    return BRAID_OK;
}

/* One epoch more in the folder "run", with these statistics. */
static braid_status train(int64_t epochs, const double mean[3], const double std[3]) {
    const trial_setup s = {.kind = "linet18",
                           .net = {.streams = 2, .channels = {3, 1}, .classes = 3, .width = 0.125},
                           .request = {.batch = BATCH, .size = {SIDE, SIDE}}};
    braid_train_options o = options_of(0);
    braid_trainer *trainer = NULL;
    trial t = trial_open(&s);
    o.step.optimiser = BRAID_OPTIMISER_SGD;
    o.step.choice.effort = BRAID_EFFORT_ESTIMATE;
    o.steps_per_epoch = 1;
    o.epochs = epochs;
    o.resume = epochs > 1;
    o.no_validation = 1;
    o.folder = "run";
    o.source = (braid_train_source){start, next, NULL};
    memcpy(o.mean[0], mean, 3 * sizeof *mean);
    memcpy(o.std[0], std, 3 * sizeof *std);
    braid_status status = braid_trainer_create(t.model, &o, &trainer);
    if (status == BRAID_OK) status = braid_trainer_run(trainer);
    braid_trainer_destroy(trainer);
    trial_close(&t);
    return status;
}

/* What a network was shown so far must be normalised like what it will be shown: each number counts. */
static void statistics_stay(void **state) {
    static const double mean[3] = {0.5, 0.25, 0.125}, std[3] = {2, 3, 4};
    (void)state;
    OK(train(1, mean, std));
    for (int c = 0; c < 3; c++) {
        double other[3];
        memcpy(other, mean, sizeof other);
        other[c] += 0.01;
        assert_refused(train(2, other, std), BRAID_ERROR_ARGUMENT, "expected the mean of stream|norm_stats.json");
        memcpy(other, std, sizeof other);
        other[c] += 0.01;
        assert_refused(train(2, mean, other), BRAID_ERROR_ARGUMENT, "expected the deviation of stream|got 2");
    }
    OK(train(2, mean, std));
}

/* ---- Options ----------------------------------------------------------------------------------- */

/* Every count, below 0 alone, with all others in order. */
static void negative_counts_are_refused(void **state) {
    trial t = open_images();
    (void)state;
    for (int j = 0; j < 10; j++) {
        braid_train_options o = options_of(0);
        braid_trainer *trainer = NULL;
        o.source = (braid_train_source){start, next, NULL};
        o.steps_per_epoch = 1;
        switch (j) {
            case 0: o.step.batch = -1; break;
            case 1: o.epochs = -1; break;
            case 2: o.steps_per_epoch = -1; break;
            case 3: o.steps = -1; break;
            case 4: o.accumulate = -1; break;
            case 5: o.patience = -1; break;
            case 6: o.save_steps = -1; break;
            case 7: o.stream_epochs = -1; break;
            case 8: o.stream_samples = -1; break;
            default: o.verify_every = -1; break;
        }
        assert_refused(braid_trainer_create(t.model, &o, &trainer), BRAID_ERROR_ARGUMENT, "got a negative one");
        assert_null(trainer);
    }
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(augmentation_has_its_settings),
                                       cmocka_unit_test(statistics_are_those_of_the_set), IN_FOLDER(statistics_stay),
                                       cmocka_unit_test(negative_counts_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
