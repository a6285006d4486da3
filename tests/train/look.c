/*
 * Tests of looking without learning: what samples are told, any set of streams blanked, streams watched behind epochs
 * without a trace in the training, and the best epoch restored at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "train/history.h"

#define SAMPLES 22
#define BATCH 8
#define SIDE 8
#define STREAMS 3
#define CLASSES 4
#define ROW 320 /* of ssae */

/* ---- A set -------------------------------------------------------------------------------- */

typedef struct set {
    int64_t at;
    int fades; /* 1: labels of training are random, so that validation becomes no better */
    unsigned char pixels[STREAMS][SAMPLES][SIDE * SIDE];
    float rows[SAMPLES][ROW];
    int32_t labels[SAMPLES], wrong[SAMPLES];
    int64_t ids[SAMPLES], files[SAMPLES];
} set;

static set data;

static void fill_set(void) {
    rng numbers = {.seed = 21, .stream = 3};
    memset(&data, 0, sizeof data);
    for (int64_t n = 0; n < SAMPLES; n++) {
        data.labels[n] = (int32_t)(n % CLASSES);
        data.wrong[n] = (int32_t)rng_between(&numbers, 0, CLASSES - 1);
        data.ids[n] = 500 + n;
        data.files[n] = n / 5;
        for (int i = 0; i < STREAMS; i++)
            for (int j = 0; j < SIDE * SIDE; j++)
                data.pixels[i][n][j] = (unsigned char)(rng_between(&numbers, 0, 99) + 50 * data.labels[n]);
        for (int j = 0; j < ROW; j++) data.rows[n][j] = (float)rng_normal(&numbers);
    }
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    set *s = user;
    (void)part, (void)epoch;
    s->at = first_batch * BATCH;
    return BRAID_OK;
}

static braid_status next_images(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    int64_t left = SAMPLES - s->at;
    *batch = (braid_train_batch){.count = left < 0       ? 0
                                          : left < BATCH ? left
                                                         : BATCH,
                                 .labels = (s->fades && part == BRAID_PART_TRAIN ? s->wrong : s->labels) + s->at,
                                 .ids = s->ids + s->at};
    for (int i = 0; i < STREAMS; i++) batch->streams[i] = s->pixels[i][s->at < SAMPLES ? s->at : 0];
    s->at += batch->count;
    return BRAID_OK;
}

/* Rows for a network on features; it takes as many of the numbers as it has inputs. */
static braid_status next_rows(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    int64_t first = s->at;
    braid_status status = next_images(user, part, batch);
    if (batch->count == 0) return status;
    batch->streams[0] = s->rows[first];
    batch->files = s->files + first;
    return status;
}

/* ---- A run -------------------------------------------------------------------------------- */

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

/* With a trainer where `o` is given. */
static void open_rig(rig *r, const char *kind, const braid_net_options *options, braid_dtype dtype,
                     const braid_train_options *o) {
    *r = (rig){0};
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r->context));
    ok(braid_net_create(kind, options, &r->net));
    ok(braid_model_create(r->context, r->net, &(braid_model_options){.dtype = dtype, .seed = 6}, &r->model));
    if (o) ok(braid_trainer_create(r->model, o, &r->trainer));
}

static void close_rig(rig *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
    *r = (rig){0};
}

static const braid_net_options three = {
    .streams = STREAMS, .channels = {1, 1, 1}, .classes = CLASSES, .width = 0.125, .dropout = 0.25};

static braid_train_options image_options(void) {
    return (braid_train_options){.step = {.batch = BATCH,
                                          .size = {SIDE, SIDE},
                                          .optimiser = BRAID_OPTIMISER_ADAMW,
                                          .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                 .input = BRAID_DTYPE_U8,
                                 .mean = {{0.4}, {0.4}, {0.4}},
                                 .std = {{0.25}, {0.25}, {0.25}},
                                 .epochs = 5,
                                 .steps_per_epoch = 3,
                                 .modality_dropout = 0.3,
                                 .seed = 11,
                                 .source = {start, next_images, &data}};
}

static braid_train_options row_options(void) {
    return (braid_train_options){.step = {.batch = BATCH, .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                 .input = BRAID_DTYPE_F32,
                                 .source = {start, next_rows, &data}};
}

/* All streams but the second become noise, and a run that learns so much. */
static void learn_one(braid_train_options *o) {
    rng numbers = {.seed = 22, .stream = 4};
    for (int i = 0; i < STREAMS; i += 2)
        for (int64_t n = 0; n < SAMPLES; n++)
            for (int j = 0; j < SIDE * SIDE; j++) data.pixels[i][n][j] = (unsigned char)rng_between(&numbers, 0, 255);
    o->epochs = 11;
    o->learning_rate = 0.01;
    o->schedule = "constant";
    o->modality_dropout = 0;
}

static void run_images(const braid_train_options *o, rig *r) {
    open_rig(r, "linet18", &three, BRAID_DTYPE_F32, o);
    ok(braid_trainer_run(r->trainer));
}

static void refuses(const braid_train_options *o, const char *words) {
    rig r;
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, NULL);
    assert_int_equal(braid_trainer_create(r.model, o, &r.trainer), BRAID_ERROR_ARGUMENT);
    says(words);
    close_rig(&r);
}

static void same_bytes(const char *a, const char *b, int expected) {
    char *x, *y;
    size_t p, q;
    ok(files_read(a, 1 << 26, BRAID_ERROR_DATA, &x, &p));
    ok(files_read(b, 1 << 26, BRAID_ERROR_DATA, &y, &q));
    assert_true(p > 0);
    int same = p == q && memcmp(x, y, p) == 0;
    memory_free(x);
    memory_free(y);
    if (same != expected) fail_msg("%s and %s: expected them to %s", a, b, expected ? "be the same" : "differ");
}

/* ---- Samples ------------------------------------------------------------------------------ */

typedef struct told {
    braid_train_sample samples[2 * SAMPLES];
    int count;
} told;

static void on_sample(void *user, const braid_train_sample *s) {
    told *t = user;
    assert_true(t->count < 2 * SAMPLES);
    t->samples[t->count++] = *s;
}

static braid_train_metrics look(rig *r, uint32_t blanked, told *t) {
    braid_train_metrics m;
    const braid_evaluate_options o = {
        .part = BRAID_PART_VALIDATE, .blanked = blanked, .sample = t ? on_sample : NULL, .user = t};
    if (t) t->count = 0;
    ok(braid_trainer_evaluate(r->trainer, &o, &m));
    return m;
}

/* A perceptron of one layer with weights of our own: logits, answers and probabilities are known. */
static void answers_are_known(void **state) {
    const float weight[3][2] = {{1, 0}, {0, 1}, {0.5, 0.5}}, bias[3] = {0, 0, 0};
    const float rows[4][2] = {{3, 1}, {-1, 2}, {2, 2}, {-2, -4}}; /* the third: three logits are the same */
    const int32_t answers[4] = {0, 1, 0, 0};
    rig r;
    told t;
    braid_train_options o = row_options();
    (void)state;
    fill_set();
    open_rig(&r, "mlp", &(braid_net_options){.layers = {2, 3}}, BRAID_DTYPE_F32, NULL);
    for (int n = 0; n < SAMPLES; n++) { /* [SAMPLES][2], without gaps */
        data.rows[0][2 * n] = rows[n % 4][0];
        data.rows[0][2 * n + 1] = rows[n % 4][1];
        data.labels[n] = n % 3;
    }
    memmove(data.rows[BATCH], data.rows[0] + 2 * (size_t)BATCH, sizeof(float) * 2 * BATCH);
    memmove(data.rows[(size_t)2 * BATCH], data.rows[0] + 4 * (size_t)BATCH, sizeof(float) * 2 * (SAMPLES - 2 * BATCH));
    ok(braid_model_write(r.model, "layers.0.fc.weight", weight, sizeof weight));
    ok(braid_model_write(r.model, "layers.0.fc.bias", bias, sizeof bias));
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    braid_train_metrics m = look(&r, 0, &t);
    assert_int_equal(t.count, SAMPLES);
    int correct = 0;
    for (int n = 0; n < SAMPLES; n++) {
        const braid_train_sample *s = &t.samples[n];
        double x = (double)rows[n % 4][0], y = (double)rows[n % 4][1];
        double sum = exp(x) + exp(y) + exp((x + y) / 2), largest = answers[n % 4] == 0 ? x : y;
        assert_true(s->id == 500 + n && s->file == n / 5);
        assert_true(s->label == n % 3 && s->classes == 3);
        assert_int_equal(s->answer, answers[n % 4]);
        if (!(fabs(s->score - exp(largest) / sum) < 1e-6)) fail_msg("sample %d: probability %g", n, s->score);
        correct += s->answer == s->label;
    }
    assert_true(m.accuracy == (double)correct / SAMPLES);
    close_rig(&r);
}

/* A network of images: the answers have the accuracy that the loss op counted, in every number format. */
static void answers_agree_with_metrics(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_BF16, BRAID_DTYPE_F16};
    (void)state;
    fill_set();
    for (int d = 0; d < 3; d++) {
        rig r;
        told t;
        braid_train_options o = image_options();
        open_rig(&r, "linet18", &three, dtypes[d], &o);
        braid_train_metrics m = look(&r, 0, &t), quiet = look(&r, 0, NULL);
        int correct = 0;
        assert_int_equal(t.count, SAMPLES);
        for (int n = 0; n < SAMPLES; n++) {
            correct += t.samples[n].answer == data.labels[n];
            assert_int_equal(t.samples[n].file, t.samples[n].id); /* the source tells no files */
            assert_true(t.samples[n].score >= 1.0 / CLASSES && t.samples[n].score <= 1);
        }
        assert_true(m.accuracy == (double)correct / SAMPLES);
        assert_memory_equal(&m, &quiet, sizeof m);
        close_rig(&r);
    }
}

/* The scores of an autoencoder are its loss, sample by sample; labels are told, though it has no use for them. */
static void errors_are_told(void **state) {
    rig r;
    told t;
    braid_train_options o = row_options();
    double sums[3] = {0}, loss = 0;
    (void)state;
    fill_set();
    open_rig(&r, "ssae", NULL, BRAID_DTYPE_F32, &o);
    braid_train_metrics m = look(&r, 0, &t);
    assert_true(t.count == SAMPLES && isnan(m.accuracy));
    for (int n = 0; n < SAMPLES; n++) {
        assert_true(t.samples[n].answer == -1 && t.samples[n].classes == 0);
        assert_true(t.samples[n].label == n % CLASSES && t.samples[n].file == n / 5);
        sums[n / BATCH] += t.samples[n].score;
    }
    for (int b = 0; b < 3; b++) loss += sums[b] / (b < 2 ? BATCH : SAMPLES - 2 * BATCH) / 3;
    if (!(fabs(loss - m.loss) < 1e-5 * loss)) fail_msg("loss %g, of the scores %g", m.loss, loss);
    close_rig(&r);
}

static void no_number_is_refused(void **state) {
    rig r;
    told t = {.count = 0};
    braid_train_metrics m;
    braid_train_options o = row_options();
    const float weight[2] = {1, NAN}, bias[1] = {0};
    const braid_evaluate_options tells = {.part = BRAID_PART_VALIDATE, .sample = on_sample, .user = &t};
    (void)state;
    fill_set();
    memset(data.labels, 0, sizeof data.labels);
    open_rig(&r, "mlp", &(braid_net_options){.layers = {2, 1}}, BRAID_DTYPE_F32, NULL);
    ok(braid_model_write(r.model, "layers.0.fc.weight", weight, sizeof weight));
    ok(braid_model_write(r.model, "layers.0.fc.bias", bias, sizeof bias));
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    assert_true(isnan(look(&r, 0, NULL).loss));
    assert_int_equal(braid_trainer_evaluate(r.trainer, &tells, &m), BRAID_ERROR_DIVERGED);
    says("sample 500: expected finite outputs");
    assert_int_equal(t.count, 0);
    assert_int_equal(braid_trainer_evaluate(r.trainer, NULL, &m), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_trainer_evaluate(r.trainer, &tells, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_trainer_evaluate(NULL, &tells, &m), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
}

/* Whatever allocation of an evaluation fails, it says so, keeps nothing, and the next one is as it was. */
static void without_memory(void **state) {
    rig r;
    told t;
    braid_train_options o = row_options();
    const braid_evaluate_options tells = {.part = BRAID_PART_VALIDATE, .sample = on_sample, .user = &t};
    braid_train_metrics m, before;
    int failed = 0;
    (void)state;
    fill_set();
    fail_alloc_install();
    open_rig(&r, "ssae", NULL, BRAID_DTYPE_F32, &o);
    before = look(&r, 0, NULL);
    for (int64_t nth = 1;; nth++) {
        int64_t live = memory_live();
        t.count = 0;
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = braid_trainer_evaluate(r.trainer, &tells, &m);
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(memory_live(), live);
        if (failures == 0) break;
        assert_int_equal(status, BRAID_ERROR_MEMORY);
        failed++;
    }
    assert_true(failed >= 6);
    assert_true(m.loss == before.loss && t.count == SAMPLES);
    close_rig(&r);
    fail_alloc_remove();
}

/* ---- Streams ------------------------------------------------------------------------------ */

/* Every set of streams gives its own numbers, which do not depend on what the blanked ones hold; nothing changes. */
static void any_set_of_streams(void **state) {
    rig r;
    braid_train_metrics m[8], again;
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, &o);
    ok(braid_model_save(r.model, "before.safetensors"));
    for (uint32_t blanked = 0; blanked < 8; blanked++) m[blanked] = look(&r, blanked, NULL);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) assert_true(m[i].loss != m[j].loss);
    for (uint32_t blanked = 1; blanked < 8; blanked++) {
        fill_set();
        for (int i = 0; i < STREAMS; i++)
            if (blanked >> i & 1) memset(data.pixels[i], 77, sizeof data.pixels[i]);
        again = look(&r, blanked, NULL);
        assert_memory_equal(&again, &m[blanked], sizeof again);
    }
    ok(braid_model_save(r.model, "after.safetensors"));
    same_bytes("before.safetensors", "after.safetensors", 1);
    const braid_evaluate_options fourth = {.part = BRAID_PART_VALIDATE, .blanked = 8};
    assert_int_equal(braid_trainer_evaluate(r.trainer, &fourth, &again), BRAID_ERROR_ARGUMENT);
    says("streams from 0 to 2 as bits, got 1 and 0x8");
    close_rig(&r);
}

typedef struct watch {
    uint32_t stop_at; /* this set of streams is blanked; 0: never */
    int epochs, with_streams;
    double accuracy[STREAMS];
} watch;

static int on_event(void *user, const braid_train_event *e) {
    watch *w = user;
    if (e->kind == BRAID_TRAIN_EVENT_EPOCH) {
        w->epochs++;
        w->with_streams += e->without != NULL;
        for (int i = 0; e->without && i < STREAMS; i++) w->accuracy[i] = e->without[i].accuracy;
    }
    return e->kind == BRAID_TRAIN_EVENT_VALIDATE && w->stop_at && e->blanked == w->stop_at;
}

static double number_of(const json_t *columns, const char *name, size_t row) {
    const json_t *value = json_array_get(json_object_get(columns, name), row);
    if (!value) fail_msg("expected %s in row %zu", name, row);
    return json_is_null(value) ? NAN : json_number_value(value);
}

/* Keys and values of the rows, those that are skipped, and the last one, which never is. */
static void streams_are_watched(void **state) {
    rig r;
    watch w = {0};
    json_t *columns;
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    learn_one(&o);
    o.folder = "run";
    o.stream_epochs = 5;
    o.event = on_event;
    o.user = &w;
    run_images(&o, &r);
    assert_true(w.epochs == 11 && w.with_streams == 3);
    ok(history_read("run/metrics.jsonl", &columns));
    for (int i = 0; i < STREAMS; i++) {
        char names[4][40];
        static const char *const keys[] = {"blanked_acc", "blanked_loss", "contribution", "val_acc"};
        for (int k = 0; k < 4; k++) snprintf(names[k], sizeof names[k], "stream_%d_%s", i, keys[k]);
        for (size_t row = 0; row < 11; row++)
            for (int k = 0; k < 4; k++) assert_int_equal(isnan(number_of(columns, names[k], row)), row != 4 && row < 9);
        braid_train_metrics m = look(&r, UINT32_C(1) << i, NULL);
        assert_true(number_of(columns, names[0], 10) == m.accuracy && w.accuracy[i] == m.accuracy);
        assert_true(number_of(columns, names[1], 10) == m.loss);
        assert_true(number_of(columns, names[2], 10) == number_of(columns, "val_accuracy", 10) - m.accuracy);
        assert_true(number_of(columns, names[3], 10) == m.accuracy); /* more than two streams: without this one */
    }
    assert_true(number_of(columns, "stream_1_contribution", 10) > 0.2);
    json_decref(columns);
    close_rig(&r);
}

/* Of two streams, stream_i_val_acc is that of stream i alone. */
static void of_two_streams_each_is_alone(void **state) {
    rig r;
    json_t *columns;
    braid_train_options o = image_options();
    const braid_net_options two = {.streams = 2, .channels = {1, 1}, .classes = CLASSES, .width = 0.125};
    (void)state;
    fill_set();
    learn_one(&o);
    o.folder = "run";
    o.stream_epochs = 100;
    open_rig(&r, "linet18", &two, BRAID_DTYPE_F32, &o);
    ok(braid_trainer_run(r.trainer));
    ok(history_read("run/metrics.jsonl", &columns));
    braid_train_metrics without[2] = {look(&r, 1, NULL), look(&r, 2, NULL)};
    assert_true(number_of(columns, "stream_0_val_acc", 10) == without[1].accuracy);
    assert_true(number_of(columns, "stream_1_val_acc", 10) == without[0].accuracy);
    assert_true(number_of(columns, "stream_0_blanked_loss", 10) == without[0].loss);
    assert_true(without[0].accuracy > without[1].accuracy);
    json_decref(columns);
    close_rig(&r);
}

/* The weights of a run are the same bits with and without. */
static void watching_leaves_no_trace(void **state) {
    (void)state;
    fill_set();
    for (int watched = 0; watched < 2; watched++) {
        rig r;
        braid_train_options o = image_options();
        o.stream_epochs = watched;
        o.accumulate = 2;
        o.augment = 1;
        run_images(&o, &r);
        ok(braid_model_save(r.model, watched ? "watched.safetensors" : "plain.safetensors"));
        close_rig(&r);
    }
    same_bytes("plain.safetensors", "watched.safetensors", 1);
}

/* Asked to stop while streams are looked at, the run goes on as if it had not been. */
static void watching_resumes(void **state) {
    rig r;
    watch w = {.stop_at = 2};
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    o.epochs = 3;
    o.stream_epochs = 1;
    o.folder = "whole";
    run_images(&o, &r);
    close_rig(&r);
    o.folder = "parts";
    o.event = on_event;
    o.user = &w;
    run_images(&o, &r);
    assert_int_equal(braid_trainer_is_done(r.trainer), 0);
    assert_int_equal(w.epochs, 0);
    close_rig(&r);
    w.stop_at = 0;
    o.resume = 1;
    run_images(&o, &r);
    assert_int_equal(w.epochs, 3);
    close_rig(&r);
    same_bytes("whole/metrics.jsonl", "parts/metrics.jsonl", 1);
    same_bytes("whole/last.safetensors", "parts/last.safetensors", 1);
}

/* An epoch that early stopping makes the last one is looked at, too. */
static void early_stopping_looks_at_its_last(void **state) {
    rig r;
    watch w = {0};
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    o.epochs = 50;
    o.patience = 1;
    o.min_delta = 2;
    o.stream_epochs = 100;
    o.event = on_event;
    o.user = &w;
    run_images(&o, &r);
    assert_int_equal(w.epochs, 3);
    assert_int_equal(w.with_streams, 1);
    close_rig(&r);
    o.no_validation = 1;
    refuses(&o, "validation samples");
}

/* ---- The best epoch ----------------------------------------------------------------------- */

/* A run that becomes worse ends with the model of its best epoch; its last checkpoint is that of the last one. */
static void the_best_is_restored(void **state) {
    rig r;
    braid_train_options o = image_options();
    json_t *columns;
    (void)state;
    fill_set();
    data.fades = 1;
    o.monitor = "val_loss";
    o.learning_rate = 0.02;
    o.schedule = "constant";
    o.patience = 2;
    o.epochs = 20;
    o.folder = "run";
    o.restore_best = 1;
    run_images(&o, &r);
    ok(history_read("run/metrics.jsonl", &columns));
    json_t *stopping = json_object_get(columns, "early_stopping");
    size_t best = (size_t)json_integer_value(json_object_get(stopping, "best_epoch"));
    size_t epochs = json_array_size(json_object_get(columns, "epoch"));
    assert_true(json_is_true(json_object_get(stopping, "stopped_early")) && best + 4 == epochs);
    braid_train_metrics m = look(&r, 0, NULL);
    assert_true(m.loss == number_of(columns, "val_loss", best));
    assert_true(m.loss != number_of(columns, "val_loss", epochs - 1));
    json_decref(columns);
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT);
    says("got the best one");
    ok(braid_trainer_run(r.trainer)); /* there is nothing left to do */
    ok(braid_model_save(r.model, "restored.safetensors"));
    close_rig(&r);
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, NULL);
    ok(braid_model_load(r.model, "run/best.safetensors"));
    ok(braid_model_save(r.model, "best.safetensors"));
    ok(braid_model_load(r.model, "run/last.safetensors"));
    ok(braid_model_save(r.model, "last.safetensors"));
    close_rig(&r);
    same_bytes("restored.safetensors", "best.safetensors", 1);
    same_bytes("restored.safetensors", "last.safetensors", 0);
    o.folder = NULL;
    refuses(&o, "a folder to restore the best epoch from");
}

/* A run that was asked to stop is not over: nothing is restored, and it goes on. */
static void a_stopped_run_is_not_restored(void **state) {
    rig r;
    watch w = {.stop_at = 1};
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    o.epochs = 2;
    o.folder = "run";
    o.restore_best = 1;
    o.stream_epochs = 2;
    o.event = on_event;
    o.user = &w;
    run_images(&o, &r);
    assert_int_equal(braid_trainer_is_done(r.trainer), 0);
    ok(braid_trainer_save(r.trainer));
    w.stop_at = 0;
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_known),
        cmocka_unit_test(answers_agree_with_metrics),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(no_number_is_refused),
        cmocka_unit_test(without_memory),
        IN_FOLDER(any_set_of_streams),
        IN_FOLDER(streams_are_watched),
        IN_FOLDER(of_two_streams_each_is_alone),
        IN_FOLDER(watching_leaves_no_trace),
        IN_FOLDER(watching_resumes),
        cmocka_unit_test(early_stopping_looks_at_its_last),
        IN_FOLDER(the_best_is_restored),
        IN_FOLDER(a_stopped_run_is_not_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
