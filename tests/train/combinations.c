/*
 * Options of training together: every pair of optimiser, schedule, loss and dtype, with accumulation and clipping, goes
 * on from a checkpoint to the same bits; single groups learn at their own rates; targets of one's own; what does not go
 * together is refused; plans are forgotten while gradients wait.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/safetensors.h"
#include "model/model.h"
#include "tests/support/folder.h"

#define ROWS 6
#define CLASSES 3
#define SAMPLES 200
#define BATCH 8

/* Rows in batches of `batch` samples, or of 1, 2, 3, ... in validation where `growing` says so. */
typedef struct set {
    int64_t batch, samples, at[BRAID_PART_COUNT], growing, turn;
    int gives_targets;
    float rows[SAMPLES][ROWS], targets[SAMPLES][CLASSES];
    int32_t labels[SAMPLES];
} set;

static set data;

static void fill_set(void) {
    rng numbers = {.seed = 7, .stream = 1};
    memset(&data, 0, sizeof data);
    data.batch = BATCH;
    data.samples = 3 * BATCH;
    for (int64_t n = 0; n < SAMPLES; n++) {
        data.labels[n] = (int32_t)(n % CLASSES);
        for (int c = 0; c < CLASSES; c++) data.targets[n][c] = c == data.labels[n];
        for (int j = 0; j < ROWS; j++)
            data.rows[n][j] = (float)(rng_uniform(&numbers) - 0.5) + (j % CLASSES == data.labels[n] ? 1.0F : 0.0F);
    }
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    set *s = user;
    (void)epoch;
    s->at[part] = first_batch * s->batch;
    s->turn = 0;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    int growing = s->growing && part == BRAID_PART_VALIDATE;
    int64_t at = s->at[part], left = (growing ? SAMPLES : s->samples) - at, most = growing ? ++s->turn : s->batch;
    if (growing && s->turn > s->growing) left = 0;
    batch->count = left < most ? left : most;
    if (batch->count <= 0) return BRAID_OK;
    batch->streams[0] = s->rows[at];
    batch->labels = s->labels + at;
    batch->targets = s->gives_targets ? s->targets[at] : NULL;
    s->at[part] += batch->count;
    return BRAID_OK;
}

typedef struct rig {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
} rig;

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static void says(const char *words) {
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

static braid_status run(rig *r, const braid_train_options *o, braid_dtype dtype) {
    const braid_net_options rows = {.layers = {ROWS, 12, CLASSES}};
    const braid_model_options wanted = {.dtype = dtype, .seed = 3};
    *r = (rig){0};
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r->context));
    ok(braid_net_create("mlp", &rows, &r->net));
    ok(braid_model_create(r->context, r->net, &wanted, &r->model));
    braid_status status = braid_trainer_create(r->model, o, &r->trainer);
    return status ? status : braid_trainer_run(r->trainer);
}

static void end(rig *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
}

static braid_train_options usual(void) {
    return (braid_train_options){.step = {.batch = BATCH,
                                          .optimiser = BRAID_OPTIMISER_SGD,
                                          .clip_norm = 0.5,
                                          .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                 .input = BRAID_DTYPE_F32,
                                 .epochs = 4,
                                 .steps_per_epoch = 2,
                                 .accumulate = 2,
                                 .source = {start, next, &data}};
}

static void same_file(const char *a, const char *b) {
    char *x, *y;
    size_t p, q;
    ok(files_read(a, 1 << 24, BRAID_ERROR_DATA, &x, &p));
    ok(files_read(b, 1 << 24, BRAID_ERROR_DATA, &y, &q));
    if (p != q || memcmp(x, y, p) != 0) fail_msg("%s and %s differ", a, b);
    memory_free(x);
    memory_free(y);
}

/* ---- Pairs -------------------------------------------------------------------------------- */

static void trains(const char *folder, braid_train_options o, braid_dtype dtype, int64_t steps, int resume) {
    rig r;
    o.folder = folder;
    o.steps = steps;
    o.resume = resume;
    ok(run(&r, &o, dtype));
    braid_train_event place;
    braid_trainer_place(r.trainer, &place);
    assert_int_equal(place.step, steps);
    assert_true(isfinite(place.norm));
    end(&r);
}

static void goes_on(const braid_train_options *o, braid_dtype dtype, int number) {
    char whole[32], parts[32], a[64], b[64];
    snprintf(whole, sizeof whole, "whole%d", number);
    snprintf(parts, sizeof parts, "parts%d", number);
    trains(whole, *o, dtype, 5, 0);
    trains(parts, *o, dtype, 3, 0);
    trains(parts, *o, dtype, 5, 1);
    const char *const files[] = {"last.safetensors", "metrics.jsonl"};
    for (int j = 0; j < 2; j++) {
        snprintf(a, sizeof a, "%s/%s", whole, files[j]);
        snprintf(b, sizeof b, "%s/%s", parts, files[j]);
        same_file(a, b);
    }
}

/* 24 runs have every pair of the four lists. */
static void every_pair_goes_on(void **state) {
    static const char *const schedules[] = {"constant",
                                            "cosine:warmup=1:each=step:eta_min=1e-5,2e-5,3e-5",
                                            "cosine_restarts:t_0=1",
                                            "one_cycle:pct=0.4",
                                            "step:size=1:gamma=0.5",
                                            "plateau:patience=0:threshold=0.5"};
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
    static const double weights[CLASSES] = {0.5, 1, 2};
    (void)state;
    fill_set();
    for (int optimiser = 1; optimiser < BRAID_OPTIMISER_COUNT; optimiser++) {
        for (int rule = 0; rule < 6; rule++) {
            braid_train_options o = usual();
            o.step.optimiser = (braid_optimiser)optimiser;
            o.step.loss = (braid_loss)(1 + (optimiser + rule) % 3);
            o.schedule = schedules[rule];
            o.decays = "0.01,shared=0";
            if (optimiser == BRAID_OPTIMISER_SGD || optimiser == BRAID_OPTIMISER_RMSPROP) o.step.momentum = 0.9;
            o.step.nesterov = optimiser == BRAID_OPTIMISER_SGD;
            if (o.step.loss == BRAID_LOSS_CROSS_ENTROPY) {
                o.step.smoothing = 0.1;
                o.step.class_weights = 1;
                o.class_weights = weights;
            }
            goes_on(&o, dtypes[(optimiser + 2 * rule) % 3], 6 * optimiser + rule);
        }
    }
}

static void what_does_not_go_together(void **state) {
    rig r;
    (void)state;
    fill_set();
    braid_train_options o = usual();
    o.step.loss = BRAID_LOSS_FOCAL;
    o.step.class_weights = 1;
    assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
    says("expected cross entropy with class weights, got focal");
    end(&r);
    o.step.class_weights = 0;
    o.step.loss = BRAID_LOSS_MSE;
    o.step.smoothing = 0.1;
    assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
    says("expected cross entropy with label smoothing, got mse");
    end(&r);
    o = usual();
    o.modality_dropout = 0.5;
    assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
    says("modality dropout: expected a network with several streams, got one of 1");
    end(&r);
    o = usual();
    o.augment = 1;
    assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
    says("augment: expected samples that are images of bytes, got f32");
    end(&r);
}

static void refused(const braid_train_options *o, const char *words) {
    rig r;
    assert_int_equal(run(&r, o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
    assert_null(r.trainer); /* at creation, not later */
    says(words);
    end(&r);
}

static void numbers_that_cannot_be_meant(void **state) {
    static const double wrong[] = {-1, NAN, INFINITY};
    (void)state;
    fill_set();
    braid_train_options o = usual();
    o.steps_per_epoch = 0;
    refused(&o, "expected steps_per_epoch of 1 or more with an optimiser, got 0");
    o = usual();
    o.step.loss = BRAID_LOSS_CROSS_ENTROPY;
    o.step.class_weights = 1;
    refused(&o, "expected class_weights beside step.class_weights, got NULL");
    for (int i = 0; i < 3; i++) {
        double weights[] = {1, 1, wrong[i]};
        o.class_weights = weights;
        refused(&o, "class weights: expected numbers of 0 or more");
        says("for class 2");
    }
    o = usual();
    for (int i = 0; i < 3; i++) {
        o.min_delta = wrong[i];
        refused(&o, "expected a min_delta of 0 or more");
    }
}

/* ---- Targets ------------------------------------------------------------------------------ */

/* Labels are targets of 1 and 0; both learn; a target that is no number is named. */
static void targets(void **state) {
    static float weights[2][ROWS * 12];
    rig r;
    (void)state;
    fill_set();
    braid_train_options o = usual();
    o.step.loss = BRAID_LOSS_MSE;
    o.rates = "0.1";
    o.epochs = 40;
    for (int given = 0; given < 2; given++) {
        braid_train_metrics m;
        data.gives_targets = given;
        ok(run(&r, &o, BRAID_DTYPE_F32));
        ok(braid_trainer_evaluate(r.trainer, &(braid_evaluate_options){.part = BRAID_PART_VALIDATE}, &m));
        assert_true(m.loss < 0.15 && isnan(m.accuracy)); /* 2/9 for the mean of the targets */
        ok(braid_model_read(r.model, "layers.0.fc.weight", weights[given], sizeof weights[given]));
        end(&r);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    data.targets[9][1] = NAN;
    assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_DIVERGED);
    says("sample 9: expected finite numbers as targets");
    end(&r);
}

/* ---- Groups ------------------------------------------------------------------------------- */

typedef struct watched {
    double rates[8];
    int count, evaluates;
    braid_trainer *trainer;
} watched;

/* A perceptron's parameters are all of the group shared: with a rate of 0 they do not move; others do not matter. */
static void groups_have_rates_of_their_own(void **state) {
    static float weights[3][ROWS * 12];
    static const char *const rates[] = {"0.05,shared=0", "0,shared=0.05", "0.05"};
    rig r;
    char text[1024];
    (void)state;
    fill_set();
    for (int j = 0; j < 3; j++) {
        braid_train_options o = usual();
        o.rates = rates[j];
        ok(run(&r, &o, BRAID_DTYPE_F32));
        ok(braid_trainer_describe(r.trainer, text, sizeof text));
        if (j == 1 && !strstr(text, "rate features=0,integration=0,shared=0.05, weight decay 0, cosine:"))
            fail_msg("%s", text);
        if (j == 2 && !strstr(text, "sgd, rate 0.05, weight")) fail_msg("%s", text);
        ok(braid_model_read(r.model, "layers.0.fc.weight", weights[j], sizeof weights[j]));
        end(&r);
    }
    assert_memory_equal(weights[1], weights[2], sizeof weights[0]);
    assert_memory_not_equal(weights[0], weights[1], sizeof weights[0]);
    static const char *const wrong[][2] = {
        {"rgb=1", "expected a group of this network (features, integration, shared)"},
        {"fast", "expected a number of 0 or more"},
        {"0.1,", "got \"\""},
        {"0.1,0.2", "expected a number for all first and then every group once, got \"0.2\""},
        {"shared=0.1,0.2", "got \"0.2\""},
        {"0.1,shared=0.2,shared=0.3", "got \"shared=0.3\""},
        {"-1", "got \"-1\""},
        {"shared=inf", "got \"shared=inf\""}};
    for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++) {
        braid_train_options o = usual();
        o.rates = wrong[j][0];
        assert_int_equal(run(&r, &o, BRAID_DTYPE_F32), BRAID_ERROR_ARGUMENT);
        says(wrong[j][1]);
        end(&r);
    }
}

static int watch_rates(void *user, const braid_train_event *e) {
    watched *w = user;
    if (e->kind == BRAID_TRAIN_EVENT_STEP && w->count < 8) w->rates[w->count++] = e->learning_rate;
    return 0;
}

/* A checkpoint keeps the rates: a run that goes on without any has them, one with others has those. */
static void rates_are_kept(void **state) {
    static const double closed[] = {0.05, 0.05 * 0.1, 0.05 * 0.01};
    rig r;
    (void)state;
    fill_set();
    data.samples = BATCH;
    for (int given = 0; given < 2; given++) {
        watched w = {0};
        braid_train_options o = usual();
        o.folder = given ? "given" : "kept";
        o.rates = "0.001,shared=0.05";
        o.schedule = "step:size=1:gamma=0.1";
        o.accumulate = 1;
        o.steps_per_epoch = 1;
        o.steps = 1;
        o.event = watch_rates;
        o.user = &w;
        ok(run(&r, &o, BRAID_DTYPE_F32));
        end(&r);
        o.resume = 1;
        o.rates = given ? "shared=0.2" : NULL;
        o.schedule = NULL;
        o.steps = 3;
        ok(run(&r, &o, BRAID_DTYPE_F32));
        end(&r);
        assert_int_equal(w.count, 3);
        for (int j = 0; j < 3; j++) assert_true(fabs(w.rates[j] - closed[j] * (given && j ? 4 : 1)) < 1e-9);
    }
}

/* ---- What is no number ----------------------------------------------------------------------- */

/* In the input or in the loss, in f32 and bf16: told with its step or sample, and the checkpoint stays. */
static void no_numbers(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16};
    static const char *const folders[] = {"f32", "bf16"}, *const files[] = {"f32/last.safetensors",
                                                                            "bf16/last.safetensors"};
    (void)state;
    for (int j = 0; j < 2; j++) {
        rig r;
        char *before, *after;
        size_t bytes, count;
        fill_set();
        braid_train_options o = usual();
        o.folder = folders[j];
        o.steps = 2;
        o.save_steps = 1;
        o.step.clip_norm = 0;
        ok(run(&r, &o, dtypes[j]));
        end(&r);
        ok(files_read(files[j], 1 << 24, BRAID_ERROR_DATA, &before, &bytes));
        o.steps = 0;
        o.resume = 1;
        o.save_steps = 100;
        o.rates = "1e30";
        assert_int_equal(run(&r, &o, dtypes[j]), BRAID_ERROR_DIVERGED);
        says("step ");
        says("samples ");
        end(&r);
        o.rates = NULL;
        data.rows[5][0] = NAN;
        assert_int_equal(run(&r, &o, dtypes[j]), BRAID_ERROR_DIVERGED);
        says("sample 5: expected finite numbers in stream features");
        end(&r);
        ok(files_read(files[j], 1 << 24, BRAID_ERROR_DATA, &after, &count));
        assert_int_equal(count, bytes);
        assert_memory_equal(before, after, bytes);
        memory_free(before);
        memory_free(after);
    }
}

/* ---- States that no run has ------------------------------------------------------------------ */

#define LAST "run/last.safetensors"

/* The text with `to` in the place of the only `from`. */
static char *replaced(const char *text, const char *from, const char *to) {
    const char *found = strstr(text, from);
    if (!found || strstr(found + 1, from)) fail_msg("expected %s once in the state", from);
    size_t room = strlen(text) + strlen(to) + 1;
    char *made = malloc(room);
    assert_non_null(made);
    snprintf(made, room, "%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
    return made;
}

/* The same checkpoint with a text of its state changed. Its checksums are right: nothing but the state is wrong. */
static void change_state(const char *from, const char *to) {
    safetensors *file = NULL;
    safetensors_writer *writer = NULL;
    void *held[64] = {NULL};
    ok(safetensors_open(LAST, &file));
    ok(safetensors_writer_create(&writer));
    assert_true(safetensors_count(file) <= sizeof held / sizeof held[0]);
    for (size_t j = 0; j < safetensors_count(file); j++) {
        const safetensors_entry *e = safetensors_at(file, j);
        safetensors_tensor t = {.name = e->name, .dtype = e->dtype, .rank = e->rank};
        memcpy(t.dims, e->dims, sizeof t.dims);
        t.data = held[j] = malloc(e->end - e->begin + 1);
        assert_non_null(t.data);
        ok(safetensors_read(file, e, held[j]));
        ok(safetensors_writer_add(writer, &t));
    }
    for (size_t j = 0; j < safetensors_metadata_count(file); j++) {
        const char *key, *text = safetensors_metadata_at(file, j, &key);
        if (safetensors_is_own_key(key)) continue;
        char *changed = strcmp(key, MODEL_TRAINING_KEY) ? NULL : replaced(text, from, to);
        ok(safetensors_writer_metadata(writer, key, changed ? changed : text));
        free(changed);
    }
    ok(safetensors_writer_write(writer, LAST));
    safetensors_writer_destroy(writer);
    safetensors_close(file);
    for (size_t j = 0; j < sizeof held / sizeof held[0]; j++) free(held[j]);
}

/* Changes the state of a run of two updates, which then goes on, or is refused with some words and left as it is. */
static void go_on(const char *from, const char *to, const char *words) {
    rig r;
    braid_train_options o = usual();
    o.folder = "run";
    o.schedule = "constant";
    o.steps = 2;
    ok(run(&r, &o, BRAID_DTYPE_F32));
    end(&r);
    change_state(from, to);
    assert_int_equal(system("cp -r run old"), 0);
    o.resume = 1;
    o.schedule = NULL;
    o.steps = 3;
    braid_status status = run(&r, &o, BRAID_DTYPE_F32);
    if (status != (words ? BRAID_ERROR_MODEL : BRAID_OK)) fail_msg("%s: %d, %s", to, status, braid_message());
    if (words) says(LAST ": ");
    if (words) says(words);
    end(&r);
    if (words) assert_int_equal(system("diff -r run old"), 0);
    assert_int_equal(system("rm -r run old"), 0);
}

static void damaged_states(void **state) {
    static const char *const changes[][3] = {{"\"step\":2", "\"shep\":2", "step"},
                                             {"\"format\":2", "\"format\":1", "format 1, of another version of braid"},
                                             {"\"format\":2", "\"format\":[]", "expected the format"},
                                             {"\"updates\":2", "\"updates\":-2", "the number of updates"},
                                             {"\"rates\":[[", "\"rates\":[{", "expected valid JSON"},
                                             {"\"rates\":[[", "\"rates\":[[{},", "rates"},
                                             {"\"schedule\":\"constant", "\"schedule\":\"Constant", "schedule"},
                                             {"\"recipe\"", "\"recepi\"", "recipe"},
                                             {"\"good\":0", "\"good\":-1", "expected counts from 0"}};
    (void)state;
    fill_set();
    for (size_t j = 0; j < sizeof changes / sizeof changes[0]; j++) go_on(changes[j][0], changes[j][1], changes[j][2]);
}

/* Whether a run keeps its activations is -1, 0 or 1, or not told by an older version. */
static void keeps_that_no_run_has(void **state) {
    static const char range[] = "expected keeps of -1, 0 or 1", json[] = "expected valid JSON";
    static const char *const changes[][2] = {
        {"\"keeps\":-1", NULL},
        {"\"keeps\":0", NULL},
        {"\"keeps\":1", NULL},
        {"\"kept\":7", NULL},
        {"\"keeps\":-2", range},
        {"\"keeps\":2", range},
        {"\"keeps\":-4294967295", range}, /* 1 in 32 bits */
        {"\"keeps\":4294967297", range},
        {"\"keeps\":9223372036854775807", range},
        {"\"keeps\":-9223372036854775808", range},
        {"\"keeps\":1.0", range},
        {"\"keeps\":-1e0", range},
        {"\"keeps\":\"1\"", range},
        {"\"keeps\":\"\"", range},
        {"\"keeps\":true", range},
        {"\"keeps\":null", range},
        {"\"keeps\":[1]", range},
        {"\"keeps\":{\"keeps\":1}", range},
        {"\"keeps\":99999999999999999999", json},
        {"\"keeps\":-99999999999999999999", json},
        {"\"keeps\":1e999", json},
        {"\"keeps\":+1", json},
        {"\"keeps\":01", json},
        {"\"keeps\":NaN", json},
        {"\"keeps\":", json},
        {"\"keeps\":-1,\"keeps\":-1", "duplicate"},
        {"\"keeps\":-1,\"keeps\":1", "duplicate"},
    };
    (void)state;
    fill_set();
    for (size_t j = 0; j < sizeof changes / sizeof changes[0]; j++) go_on("\"keeps\":-1", changes[j][0], changes[j][1]);
}

/* ---- Plans that are forgotten --------------------------------------------------------------- */

/* Looks at many sizes of batch while the gradients of the epoch's last, single batch wait. */
static int evaluate_in_between(void *user, const braid_train_event *e) {
    watched *w = user;
    braid_train_metrics m;
    if (e->kind != BRAID_TRAIN_EVENT_STEP || e->batch != 3) return 0;
    data.growing = 18;
    ok(braid_trainer_evaluate(w->trainer, &(braid_evaluate_options){.part = BRAID_PART_VALIDATE}, &m));
    data.growing = 0;
    w->evaluates++;
    return 0;
}

static void plans_are_forgotten_while_gradients_wait(void **state) {
    static float weights[2][ROWS * 12];
    const braid_net_options rows = {.layers = {ROWS, 12, CLASSES}};
    (void)state;
    for (int between = 0; between < 2; between++) {
        rig r = {0};
        watched w = {0};
        fill_set();
        braid_train_options o = usual();
        o.step.batch = 20;
        o.event = between ? evaluate_in_between : NULL;
        o.user = &w;
        ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r.context));
        ok(braid_net_create("mlp", &rows, &r.net));
        ok(braid_model_create(r.context, r.net, &(braid_model_options){.seed = 3}, &r.model));
        ok(braid_trainer_create(r.model, &o, &r.trainer));
        w.trainer = r.trainer;
        ok(braid_trainer_run(r.trainer));
        assert_int_equal(w.evaluates, between ? 4 : 0);
        ok(braid_model_read(r.model, "layers.0.fc.weight", weights[between], sizeof weights[0]));
        end(&r);
    }
    assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_pair_goes_on),
        cmocka_unit_test(what_does_not_go_together),
        cmocka_unit_test(numbers_that_cannot_be_meant),
        cmocka_unit_test(targets),
        cmocka_unit_test(groups_have_rates_of_their_own),
        IN_FOLDER(rates_are_kept),
        IN_FOLDER(no_numbers),
        IN_FOLDER(damaged_states),
        IN_FOLDER(keeps_that_no_run_has),
        cmocka_unit_test(plans_are_forgotten_while_gradients_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
