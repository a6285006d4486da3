/*
 * The training loop on the emulator, which may be some batches ahead of what it has looked at: its metrics and its
 * checkpoints are those of every batch all the same, a run goes on from one bit for bit, and one that has gone to
 * infinity ends at the step at which the CPU ends, with the parameters that it had before. A running statistic that is
 * no number ends a run behind its epoch. Activations are kept or made again as when the run began, also where memory is
 * short by then, if it can be. A step that failed half done is not saved.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "braid.h"
#include "tests/support/folder.h"
#include "tests/support/trial.h"
#include "train/trainer.h"
#include "tests/emu/tests.h"

enum { BATCH = 4, WIDTH = 6, CLASSES = 3, BATCHES = 9, PARAMETERS = WIDTH * 5 };

/* Rows that follow from the number of their batch. */
typedef struct rows_source {
    int64_t at;
    float rows[BATCH][WIDTH];
    int32_t labels[BATCH];
} rows_source;

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first) {
    rows_source *s = user;
    (void)part;
    (void)epoch;
    s->at = first;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    rows_source *s = user;
    (void)part;
    *batch = (braid_train_batch){0};
    if (s->at == BATCHES) return BRAID_OK;
    for (int64_t b = 0; b < BATCH; b++) {
        s->labels[b] = (int32_t)((s->at + b) % CLASSES);
        for (int64_t j = 0; j < WIDTH; j++)
            s->rows[b][j] = (float)((s->at * 7 + b * 3 + j * 5) % 11) / 11 + (j % CLASSES == s->labels[b] ? 1.0F : 0);
    }
    s->at++;
    *batch = (braid_train_batch){.count = BATCH, .streams = {s->rows}, .labels = s->labels};
    return BRAID_OK;
}

/* How a run ended. */
typedef struct ending {
    braid_status status;
    char message[512];
    braid_train_event place;
    float weights[PARAMETERS];
    int keeps; /* of the trainer and of its last plan for training */
    int notes;
    braid_status saved, again; /* of a run that failed: a save, and going on */
} ending;

static int is_full; /* 1: the device has no free memory; a note of the trainer ends it */

static size_t free_or_full(const device *d) {
    (void)d;
    return is_full ? 0 : (size_t)1 << 30;
}

static braid_status record_without_memory(device *d) {
    return fail(BRAID_ERROR_MEMORY, "%s: no memory for a recording", d->name);
}
static int cannot_record; /* 1: that is what the second step of a plan meets */

static int count_note(void *user, const braid_train_event *e) {
    if (e->kind != BRAID_TRAIN_EVENT_NOTE) return 0;
    ((ending *)user)->notes += strstr(e->text, "not as much free memory") != NULL;
    is_full = 0;
    return 0;
}

static void train(const char *where, braid_dtype dtype, const braid_train_options *options, ending *end) {
    const trial_setup setup = {.device = where, .kind = "mlp", .net = {.layers = {WIDTH, 5, CLASSES}}, .dtype = dtype};
    rows_source rows = {0};
    braid_train_options o = *options;
    braid_trainer *trainer = NULL;
    trial_setup evaluated = setup;
    backend watched;
    evaluated.request = (braid_plan_request){.phase = BRAID_PHASE_EVAL, .batch = 1};
    trial t = trial_open(&evaluated);
    o.source = (braid_train_source){start, next, &rows};
    o.step.batch = BATCH;
    o.step.choice.effort = BRAID_EFFORT_ESTIMATE;
    o.steps_per_epoch = BATCHES;
    o.no_validation = 1;
    o.event = count_note;
    o.user = end;
    end->notes = 0;
    device *d = t.model->context->device;
    const backend *own = d->backend;
    watched = *own;
    watched.free_bytes = free_or_full;
    if (cannot_record) watched.record = record_without_memory;
    d->backend = &watched;
    OK(braid_trainer_create(t.model, &o, &trainer));
    end->status = braid_trainer_run(trainer);
    snprintf(end->message, sizeof end->message, "%s", end->status ? braid_message() : "");
    end->saved = end->status && o.folder ? braid_trainer_save(trainer) : BRAID_OK;
    end->again = end->status ? braid_trainer_run(trainer) : BRAID_OK;
    braid_trainer_place(trainer, &end->place);
    OK(braid_model_read(t.model, "layers.0.fc.weight", end->weights, sizeof end->weights));
    end->keeps = trainer->keeps;
    if (trainer->trained)
        assert_int_equal(trainer->trained->plan->program.options.keep_all, end->keeps > 0 && !end->notes);
    braid_trainer_destroy(trainer);
    d->backend = own;
    trial_close(&t);
}

/* 20 steps are 8, a checkpoint and 12 more, with the same metrics; in f16 the factor of the loss is kept, too. */
static void a_run_goes_on(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16};
    (void)state;
    for (int j = 0; j < 2; j++) {
        char whole[64], parts[64];
        ending one, two;
        braid_train_options o = {.step = {.optimiser = BRAID_OPTIMISER_ADAMW}, .epochs = 3, .learning_rate = 0.01};
        snprintf(whole, sizeof whole, "whole%d", j);
        snprintf(parts, sizeof parts, "parts%d", j);
        o.folder = whole;
        o.steps = 20;
        train("cuda:0", dtypes[j], &o, &one);
        o.folder = parts;
        o.steps = 8;
        train("cuda:0", dtypes[j], &o, &two);
        o.steps = 20;
        o.resume = 1;
        train("cuda:0", dtypes[j], &o, &two);
        assert_int_equal(one.status, BRAID_OK);
        assert_int_equal(two.status, BRAID_OK);
        assert_memory_equal(one.weights, two.weights, sizeof one.weights);
        assert_int_equal(one.place.step, 20);
        assert_int_equal(one.place.train.batches, 20 - 2 * BATCHES);
        assert_true(one.place.train.loss == two.place.train.loss && isfinite(one.place.train.loss));
        assert_true(one.place.loss_scale == (j ? 65536 : 1) && two.place.loss_scale == one.place.loss_scale);
    }
}

static void activations_are_kept_as_the_run_began(void **state) {
    braid_train_options o = {
        .step = {.optimiser = BRAID_OPTIMISER_SGD}, .epochs = 3, .learning_rate = 0.01, .folder = "kept", .steps = 3};
    ending end;
    (void)state;
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    assert_int_equal(end.keeps, 1); /* there is room for it */
    o.resume = 1;
    o.steps = 6;
    is_full = 1;
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    if (end.status) fail_msg("%s", end.message);
    assert_int_equal(end.notes, 1);
    assert_int_equal(end.keeps, 1); /* when there is room again */

    o = (braid_train_options){.step = {.optimiser = BRAID_OPTIMISER_SGD, .keep_all = -1},
                              .epochs = 3,
                              .learning_rate = 0.01,
                              .folder = "made_again",
                              .steps = 3};
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    assert_int_equal(end.keeps, -1);
    o.resume = 1;
    o.steps = 6;
    o.step.keep_all = 0;
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    assert_int_equal(end.keeps, -1);
    o.steps = 9;
    o.step.keep_all = 1; /* who asks for it gets it, or nothing */
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    assert_int_equal(end.keeps, 1);
    o.steps = 12;
    is_full = 1;
    train("cuda:0", BRAID_DTYPE_F32, &o, &end);
    is_full = 0;
    assert_int_equal(end.status, BRAID_ERROR_MEMORY);
    assert_int_equal(end.notes, 0);
}

/* For want of memory: it is neither saved nor gone on with, and the run goes on from its checkpoint. */
static void a_step_that_fails_half_done(void **state) {
    (void)state;
    for (int accumulate = 1; accumulate <= 2; accumulate++) {
        char whole[64], parts[64];
        ending one, two;
        braid_train_options o = {
            .step = {.optimiser = BRAID_OPTIMISER_SGD}, .epochs = 9, .learning_rate = 0.01, .accumulate = accumulate};
        snprintf(whole, sizeof whole, "unbroken%d", accumulate);
        snprintf(parts, sizeof parts, "broken%d", accumulate);
        o.folder = whole;
        o.steps = 6;
        train("cuda:0", BRAID_DTYPE_F32, &o, &one);
        assert_int_equal(one.status, BRAID_OK);
        o.folder = parts;
        o.steps = 3;
        train("cuda:0", BRAID_DTYPE_F32, &o, &two);
        o.resume = 1;
        o.steps = 6;
        cannot_record = 1;
        train("cuda:0", BRAID_DTYPE_F32, &o, &two);
        cannot_record = 0;
        assert_int_equal(two.status, BRAID_ERROR_MEMORY);
        assert_int_equal(two.saved, BRAID_ERROR_ARGUMENT);
        assert_int_equal(two.again, BRAID_ERROR_ARGUMENT);
        train("cuda:0", BRAID_DTYPE_F32, &o, &two);
        assert_int_equal(two.status, BRAID_OK);
        assert_memory_equal(one.weights, two.weights, sizeof one.weights);
    }
}

/* With the kernels of another device nothing hangs on the answer any more: it is asked for again. */
static void another_device_decides_anew(void **state) {
    static const char *const devices[] = {"cpu", "cuda:0"};
    (void)state;
    for (int j = 0; j < 2; j++) {
        braid_train_options o = {
            .step = {.optimiser = BRAID_OPTIMISER_SGD}, .epochs = 3, .learning_rate = 0.01, .steps = 3};
        ending end;
        o.folder = devices[j];
        train(devices[j], BRAID_DTYPE_F32, &o, &end);
        assert_int_equal(end.keeps, j ? 1 : -1);
        o.resume = 1;
        o.steps = 6;
        train(devices[1 - j], BRAID_DTYPE_F32, &o, &end);
        if (end.status) fail_msg("%s", end.message);
        assert_int_equal(end.keeps, j ? -1 : 1);
    }
}

static void infinity_ends_it_at_the_same_step(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16};
    (void)state;
    for (int j = 0; j < 2; j++) {
        ending cpu, emulated;
        const braid_train_options o = {
            .step = {.optimiser = BRAID_OPTIMISER_SGD}, .epochs = 9, .learning_rate = 1e20, .schedule = "constant"};
        train("cpu", dtypes[j], &o, &cpu);
        train("cuda:0", dtypes[j], &o, &emulated);
        assert_int_equal(cpu.status, BRAID_ERROR_DIVERGED);
        assert_int_equal(emulated.status, BRAID_ERROR_DIVERGED);
        size_t known = strcspn(cpu.message, ":");
        assert_true(known > 5 && strncmp(cpu.message, emulated.message, known) == 0);
        for (int k = 0; k < PARAMETERS; k++) /* nothing was updated behind that step */
            assert_true(!isfinite(cpu.weights[k]) == !isfinite(emulated.weights[k]) &&
                        (!isfinite(cpu.weights[k]) ||
                         fabsf(cpu.weights[k] - emulated.weights[k]) <= 1e-3F * fabsf(cpu.weights[k]) + 1e-3F));
    }
}

/* ---- Running statistics --------------------------------------------------------------------- */

enum { SIDE = 33, PAIR = 2, IMAGE_BATCHES = 2 };

/* Noise in two streams; what becomes of the run. */
typedef struct spoiled {
    braid_model *model;
    int64_t at;
    int validated, updates; /* batches of validation; updates before a statistic is spoiled */
    unsigned char colours[PAIR][SIDE][SIDE][3], grey[PAIR][SIDE][SIDE][1];
    int32_t labels[PAIR];
} spoiled;

static braid_status start_images(void *user, braid_part part, int64_t epoch, int64_t first) {
    (void)part;
    (void)epoch;
    ((spoiled *)user)->at = first;
    return BRAID_OK;
}

static braid_status next_images(void *user, braid_part part, braid_train_batch *batch) {
    spoiled *s = user;
    *batch = (braid_train_batch){0};
    s->validated += part == BRAID_PART_VALIDATE;
    if (s->at++ == IMAGE_BATCHES) return BRAID_OK;
    for (size_t j = 0; j < sizeof s->colours; j++) ((unsigned char *)s->colours)[j] = (unsigned char)(j * 37 % 251);
    for (size_t j = 0; j < sizeof s->grey; j++) ((unsigned char *)s->grey)[j] = (unsigned char)(j * 53 % 241);
    for (int j = 0; j < PAIR; j++) s->labels[j] = j;
    *batch = (braid_train_batch){.count = PAIR, .streams = {s->colours, s->grey}, .labels = s->labels};
    return BRAID_OK;
}

/* Behind an update one number of a running statistic becomes infinite, as a variance does that is too large for an f32:
 * what it divides is 0, and no loss shows it. */
static int spoil(void *user, const braid_train_event *e) {
    static float numbers[4096];
    spoiled *s = user;
    const graph *g = s->model->graph;
    int j = 0;
    if (e->kind != BRAID_TRAIN_EVENT_STEP || e->step != s->updates) return 0;
    while (g->planes[j].kind != PLANE_STATE || g->planes[j].is_counter) j++;
    numbers[plane_elements(&g->planes[j]) - 1] = INFINITY;
    OK(braid_model_write(s->model, g->planes[j].name, numbers,
                         (size_t)plane_elements(&g->planes[j]) * sizeof *numbers));
    return 0;
}

static void statistics_are_looked_at_behind_an_epoch(void **state) {
    const trial_setup setup = {.device = "cuda:0",
                               .kind = "mcresnet18",
                               .net = {.width = 1.0 / 32, .classes = 2},
                               .request = {.phase = BRAID_PHASE_EVAL, .batch = 1, .size = {SIDE, SIDE}}};
    static spoiled s = {.updates = 1};
    braid_trainer *trainer = NULL;
    (void)state;
    trial t = trial_open(&setup);
    s.model = t.model;
    const braid_train_options o = {
        .step = {.batch = PAIR,
                 .size = {SIDE, SIDE},
                 .optimiser = BRAID_OPTIMISER_SGD,
                 .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
        .source = {start_images, next_images, &s},
        .input = BRAID_DTYPE_U8,
        .epochs = 2,
        .steps_per_epoch = IMAGE_BATCHES,
        .learning_rate = 1e-6,
        .folder = "run",
        .event = spoil,
        .user = &s,
    };
    OK(braid_trainer_create(t.model, &o, &trainer));
    assert_int_equal(braid_trainer_run(trainer), BRAID_ERROR_DIVERGED);
    if (!strstr(braid_message(), "step 2: expected a finite ") || !strstr(braid_message(), "batches of epoch 1") ||
        !strstr(braid_message(), "begin again with a lower learning rate"))
        fail_msg("got: %s", braid_message());
    assert_int_equal(s.validated, 0);
    assert_int_equal(braid_trainer_save(trainer), BRAID_ERROR_DIVERGED);
    braid_trainer_destroy(trainer);
    trial_close(&t);
}

int emu_training(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_run_goes_on),
        IN_FOLDER(activations_are_kept_as_the_run_began),
        IN_FOLDER(a_step_that_fails_half_done),
        IN_FOLDER(another_device_decides_anew),
        cmocka_unit_test(infinity_ends_it_at_the_same_step),
        IN_FOLDER(statistics_are_looked_at_behind_an_epoch),
    };
    return cmocka_run_group_tests_name("emu/training", tests, NULL, NULL);
}
