/*
 * A run on a small set of images, for tests of looking without learning (look.c) and of what is watched behind epochs
 * (watching.c): its source, its options, what it is told.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_TRAIN_IMAGE_RUN_H
#define BRAID_TESTS_TRAIN_IMAGE_RUN_H

#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
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
    int64_t at, epoch;
    int fades; /* 1: labels of training are random, so that validation becomes no better */
    unsigned char pixels[STREAMS][SAMPLES][SIDE * SIDE];
    float rows[SAMPLES][ROW];
    int32_t labels[SAMPLES], wrong[SAMPLES];
    int64_t ids[SAMPLES], files[SAMPLES];
} set;

static set data;

static inline void fill_set(void) {
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

static inline braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    set *s = user;
    (void)part;
    s->epoch = epoch;
    s->at = first_batch * BATCH;
    return BRAID_OK;
}

static inline braid_status next_images(void *user, braid_part part, braid_train_batch *batch) {
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
static inline braid_status next_rows(void *user, braid_part part, braid_train_batch *batch) {
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

static inline void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static inline void says(const char *words) {
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

/* With a trainer where `o` is given. */
static inline void open_rig(rig *r, const char *kind, const braid_net_options *options, braid_dtype dtype,
                            const braid_train_options *o) {
    *r = (rig){0};
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r->context));
    ok(braid_net_create(kind, options, &r->net));
    ok(braid_model_create(r->context, r->net, &(braid_model_options){.dtype = dtype, .seed = 6}, &r->model));
    if (o) ok(braid_trainer_create(r->model, o, &r->trainer));
}

static inline void close_rig(rig *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
    *r = (rig){0};
}

static const braid_net_options three = {
    .streams = STREAMS, .channels = {1, 1, 1}, .classes = CLASSES, .width = 0.125, .dropout = 0.25};

static inline braid_train_options image_options(void) {
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

static inline braid_train_options row_options(void) {
    return (braid_train_options){.step = {.batch = BATCH, .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                 .input = BRAID_DTYPE_F32,
                                 .source = {start, next_rows, &data}};
}

/* All streams but the second become noise, and a run that learns so much. */
static inline void learn_one(braid_train_options *o) {
    rng numbers = {.seed = 22, .stream = 4};
    for (int i = 0; i < STREAMS; i += 2)
        for (int64_t n = 0; n < SAMPLES; n++)
            for (int j = 0; j < SIDE * SIDE; j++) data.pixels[i][n][j] = (unsigned char)rng_between(&numbers, 0, 255);
    o->epochs = 11;
    o->learning_rate = 0.01;
    o->schedule = "constant";
    o->modality_dropout = 0;
}

static inline void run_images(const braid_train_options *o, rig *r) {
    open_rig(r, "linet18", &three, BRAID_DTYPE_F32, o);
    ok(braid_trainer_run(r->trainer));
}

static inline void refuses(const braid_train_options *o, const char *words) {
    rig r;
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, NULL);
    assert_int_equal(braid_trainer_create(r.model, o, &r.trainer), BRAID_ERROR_ARGUMENT);
    says(words);
    close_rig(&r);
}

static inline void same_bytes(const char *a, const char *b, int expected) {
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

/* ---- Looking ------------------------------------------------------------------------------ */

typedef struct told {
    braid_train_sample samples[2 * SAMPLES];
    int count;
} told;

static inline void on_sample(void *user, const braid_train_sample *s) {
    told *t = user;
    assert_true(t->count < 2 * SAMPLES);
    t->samples[t->count++] = *s;
}

static inline braid_train_metrics look(rig *r, uint32_t blanked, told *t) {
    braid_train_metrics m;
    const braid_evaluate_options o = {
        .part = BRAID_PART_VALIDATE, .blanked = blanked, .sample = t ? on_sample : NULL, .user = t};
    if (t) t->count = 0;
    ok(braid_trainer_evaluate(r->trainer, &o, &m));
    return m;
}

typedef struct watch {
    uint32_t stop_at; /* this set of streams is blanked; 0: never */
    braid_part stop_in;
    int epochs, with_streams;
    int64_t trained, of_epoch_0; /* training samples that were looked at */
    int fades_behind;            /* from this epoch on labels of training are random; 0: never */
    double accuracy[STREAMS];
} watch;

static inline int on_event(void *user, const braid_train_event *e) {
    watch *w = user;
    if (e->kind == BRAID_TRAIN_EVENT_EPOCH) {
        w->epochs++;
        if (w->epochs == w->fades_behind) data.fades = 1;
        w->with_streams += e->without != NULL;
        for (int i = 0; e->without && i < STREAMS; i++) w->accuracy[i] = e->without[i].accuracy;
    }
    if (e->kind == BRAID_TRAIN_EVENT_VALIDATE && e->part == BRAID_PART_TRAIN) {
        w->trained += e->samples;
        w->of_epoch_0 += data.epoch == 0 ? e->samples : 0;
    }
    return e->kind == BRAID_TRAIN_EVENT_VALIDATE && w->stop_at && e->blanked == w->stop_at && e->part == w->stop_in;
}

static inline double number_of(const json_t *columns, const char *name, size_t row) {
    const json_t *value = json_array_get(json_object_get(columns, name), row);
    if (!value) fail_msg("expected %s in row %zu", name, row);
    return json_is_null(value) ? NAN : json_number_value(value);
}

#endif
