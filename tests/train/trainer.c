/*
 * Tests of the training loop: it learns; 10 steps are 5, a checkpoint, another context and 5 more, bit for bit, with
 * everything random switched on; accumulation is a larger batch; what diverges or is damaged never replaces a good
 * checkpoint; and everything that must be refused.
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
#include "core/safetensors.h"
#include "tests/support/folder.h"
#include "train/history.h"

#define SAMPLES 44
#define IMAGE 16
#define CLASSES 3
#define BATCH 8
#define ROWS 6

/* ---- A set -------------------------------------------------------------------------------- */

/* Images of two streams whose label is how bright the second is beside the first, or rows of numbers. */
typedef struct set {
    int64_t batch, at, samples;
    int64_t spoil;   /* a sample whose first number becomes NaN; -1: none */
    int bad_label;   /* 1: the last label is out of range */
    int64_t served;  /* batches of training */
    int64_t stop_at; /* so many served, it asks to stop; -1: never */
    unsigned char rgb[SAMPLES][IMAGE * IMAGE * 3], depth[SAMPLES][IMAGE * IMAGE];
    float rows[SAMPLES][ROWS];
    unsigned char pixels[SAMPLES][ROWS]; /* images of 1x2 with 3 channels, which the rows are when normalised */
    int32_t labels[SAMPLES];
    int64_t ids[SAMPLES];
} set;

static void fill_set(set *s, int64_t batch) {
    rng numbers = {.seed = 5, .stream = 1};
    memset(s, 0, sizeof *s);
    s->batch = batch;
    s->samples = SAMPLES;
    s->spoil = s->stop_at = -1;
    for (int64_t n = 0; n < SAMPLES; n++) {
        s->labels[n] = (int32_t)(n % CLASSES);
        s->ids[n] = 100 + n;
        for (int j = 0; j < IMAGE * IMAGE; j++) {
            int base = 60 + (int)rng_between(&numbers, 0, 40);
            for (int c = 0; c < 3; c++) s->rgb[n][3 * j + c] = (unsigned char)base;
            s->depth[n][j] = (unsigned char)(base + 50 * s->labels[n]);
        }
        for (int j = 0; j < ROWS; j++)
            s->rows[n][j] = (float)(rng_uniform(&numbers) - 0.5) + (j % CLASSES == s->labels[n] ? 1.0F : 0.0F);
    }
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    set *s = user;
    (void)part;
    (void)epoch;
    s->at = first_batch * s->batch;
    return BRAID_OK;
}

static braid_status next_images(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    batch->stop = part == BRAID_PART_TRAIN && s->served == s->stop_at;
    if (batch->stop) return BRAID_OK;
    int64_t left = s->samples - s->at, first = s->at;
    batch->count = left < 0 ? 0 : left < s->batch ? left : s->batch;
    if (batch->count == 0) return BRAID_OK;
    batch->streams[0] = s->rgb[first];
    batch->streams[1] = s->depth[first];
    batch->labels = s->labels + first;
    batch->ids = s->ids + first;
    s->at += batch->count;
    s->served += part == BRAID_PART_TRAIN;
    return BRAID_OK;
}

static braid_status next_rows(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    int64_t first = s->at;
    braid_status status = next_images(user, part, batch);
    if (batch->count == 0) return status;
    if (s->spoil >= 0) s->rows[s->spoil][0] = NAN;
    if (s->bad_label) s->labels[first] = CLASSES;
    batch->streams[0] = s->rows[first];
    return status;
}

static braid_status next_pixels(void *user, braid_part part, braid_train_batch *batch) {
    set *s = user;
    int64_t first = s->at;
    braid_status status = next_images(user, part, batch);
    batch->streams[0] = batch->count ? s->pixels[first] : NULL;
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

static void open_rig(rig *r, const char *kind, braid_dtype dtype, uint64_t seed) {
    const braid_net_options images = {
        .streams = 2, .channels = {3, 1}, .classes = CLASSES, .width = 0.125, .dropout = 0.25};
    const braid_net_options rows = {.layers = {ROWS, 12, CLASSES}};
    const braid_model_options wanted = {.dtype = dtype, .seed = seed};
    *r = (rig){0};
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r->context));
    ok(braid_net_create(kind, kind[0] == 'm' ? &rows : &images, &r->net));
    ok(braid_model_create(r->context, r->net, &wanted, &r->model));
}

static void close_rig(rig *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
    *r = (rig){0};
}

static braid_train_options image_options(set *s) {
    return (braid_train_options){.step = {.batch = BATCH,
                                          .size = {IMAGE, IMAGE},
                                          .optimiser = BRAID_OPTIMISER_ADAMW,
                                          .clip_norm = 5,
                                          .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                 .input = BRAID_DTYPE_U8,
                                 .mean = {{0.4, 0.4, 0.4}, {0.5}},
                                 .std = {{0.25, 0.25, 0.25}, {0.25}},
                                 .weight_decay = 1e-2,
                                 .epochs = 4,
                                 .steps_per_epoch = 3,
                                 .accumulate = 2,
                                 .augment = 1,
                                 .modality_dropout = 0.3,
                                 .seed = 11,
                                 .source = {start, next_images, s}};
}

static braid_train_options row_options(set *s) {
    return (braid_train_options){
        .step = {.batch = BATCH,
                 .optimiser = BRAID_OPTIMISER_SGD,
                 .momentum = 0.9,
                 .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
        .input = BRAID_DTYPE_F32,
        .learning_rate = 0.05,
        .schedule = "constant",
        .epochs = 3,
        .steps_per_epoch = 6,
        .source = {start, next_rows, s},
    };
}

static set data;
static const braid_evaluate_options whole = {.part = BRAID_PART_VALIDATE};

static braid_status run_rows(rig *r, const braid_train_options *o, uint64_t seed) {
    open_rig(r, "mlp", BRAID_DTYPE_F32, seed);
    braid_status status = braid_trainer_create(r->model, o, &r->trainer);
    return status ? status : braid_trainer_run(r->trainer);
}

/* Trains `steps` updates of a network of images into a folder. */
static void run_images(braid_dtype dtype, uint64_t seed, const char *folder, int64_t steps, int resume) {
    rig r;
    braid_train_options o = image_options(&data);
    o.folder = folder;
    o.steps = steps;
    o.resume = resume;
    o.save_steps = resume; /* what is looked at before every save changes nothing */
    open_rig(&r, "linet18", dtype, seed);
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    close_rig(&r);
}

/* All tensors of two files are the same; returns how many there are. */
static size_t same_tensors(const char *a, const char *b) {
    safetensors *x, *y;
    ok(safetensors_open(a, &x));
    ok(safetensors_open(b, &y));
    size_t count = safetensors_count(x);
    assert_int_equal(count, safetensors_count(y));
    for (size_t j = 0; j < count; j++) {
        const safetensors_entry *one = safetensors_at(x, j), *other = safetensors_find(y, one->name);
        void *p, *q;
        assert_non_null(other);
        size_t bytes = one->end - one->begin;
        assert_int_equal(bytes, other->end - other->begin);
        ok(memory_alloc(1, bytes + 1, "tensor", &p));
        ok(memory_alloc(1, bytes + 1, "tensor", &q));
        ok(safetensors_read(x, one, p));
        ok(safetensors_read(y, other, q));
        if (memcmp(p, q, bytes) != 0) fail_msg("%s differs", one->name);
        memory_free(p);
        memory_free(q);
    }
    safetensors_close(x);
    safetensors_close(y);
    return count;
}

static void same_text(const char *a, const char *b) {
    char *x, *y;
    size_t p, q;
    ok(files_read(a, 1 << 20, BRAID_ERROR_DATA, &x, &p));
    ok(files_read(b, 1 << 20, BRAID_ERROR_DATA, &y, &q));
    assert_true(p > 0);
    assert_string_equal(x, y);
    memory_free(x);
    memory_free(y);
}

/* ---- Going on ----------------------------------------------------------------------------- */

/* With accumulation, augmentation, modality dropout, dropout, clipping, a last partial batch, and epochs between. */
static void resumes_bitwise(braid_dtype dtype) {
    fill_set(&data, BATCH);
    run_images(dtype, 1, "whole", 10, 0);
    run_images(dtype, 1, "parts", 5, 0);
    run_images(dtype, 99, "parts", 10, 1); /* whatever the new model began with */
    assert_true(same_tensors("whole/last.safetensors", "parts/last.safetensors") > 300);
    same_tensors("whole/best.safetensors", "parts/best.safetensors");
    same_text("whole/metrics.jsonl", "parts/metrics.jsonl");
}

static void resumes_bitwise_f32(void **state) {
    (void)state;
    resumes_bitwise(BRAID_DTYPE_F32);
}

static void resumes_bitwise_bf16(void **state) {
    (void)state;
    resumes_bitwise(BRAID_DTYPE_BF16);
}

static void resumes_bitwise_f16(void **state) {
    (void)state;
    resumes_bitwise(BRAID_DTYPE_F16);
}

/* ---- Learning ----------------------------------------------------------------------------- */

static void learns(void **state) {
    rig r;
    braid_train_metrics m;
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.epochs = 20;
    ok(run_rows(&r, &o, 3));
    ok(braid_trainer_evaluate(r.trainer, &whole, &m));
    assert_int_equal(m.samples, SAMPLES);
    assert_int_equal(m.batches, 6); /* the last is a partial one */
    if (!(m.accuracy > 0.9 && m.loss < 0.5)) fail_msg("accuracy %g, loss %g", m.accuracy, m.loss);
    close_rig(&r);
}

/* Every way to blank gives other numbers, and none of them changes the model. */
/* A network on rows takes an image as a row, pixel by pixel. */
static void images_as_rows(void **state) {
    static const double mean[3] = {0.3, 0.5, 0.7}, std[3] = {0.2, 0.3, 0.4};
    const braid_evaluate_options seen = {.part = BRAID_PART_VALIDATE};
    rig r;
    braid_train_metrics of_rows, of_images;
    (void)state;
    fill_set(&data, BATCH);
    for (int n = 0; n < SAMPLES; n++)
        for (int j = 0; j < ROWS; j++) {
            data.pixels[n][j] = (unsigned char)(127 + 80 * data.rows[n][j]);
            data.rows[n][j] = (float)((data.pixels[n][j] / 255.0 - mean[j % 3]) / std[j % 3]);
        }
    braid_train_options o = row_options(&data);
    ok(run_rows(&r, &o, 3));
    ok(braid_trainer_evaluate(r.trainer, &seen, &of_rows));
    close_rig(&r);
    o.input = BRAID_DTYPE_U8;
    o.step.size[0] = 1;
    o.step.size[1] = 2;
    memcpy(o.mean[0], mean, sizeof mean);
    memcpy(o.std[0], std, sizeof std);
    o.source.next = next_pixels;
    ok(run_rows(&r, &o, 3));
    ok(braid_trainer_evaluate(r.trainer, &seen, &of_images));
    close_rig(&r);
    if (!(fabs(of_rows.loss - of_images.loss) < 1e-5)) fail_msg("%g, %g", of_rows.loss, of_images.loss);
    o.step.size[1] = 4;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "expected rows of 6 numbers in stream features, got images of 1x4"));
    close_rig(&r);
    assert_int_equal(memory_live(), 0);
}

static void looks_with_streams_blanked(void **state) {
    rig r;
    braid_train_metrics all, again, without[2];
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = image_options(&data);
    open_rig(&r, "linet18", BRAID_DTYPE_F32, 1);
    ok(braid_trainer_create(r.model, &o, &r.trainer));
    ok(braid_trainer_evaluate(r.trainer, &whole, &all));
    for (int i = 0; i < 2; i++) {
        const braid_evaluate_options one = {.part = BRAID_PART_VALIDATE, .blanked = 1U << i};
        ok(braid_trainer_evaluate(r.trainer, &one, &without[i]));
    }
    ok(braid_trainer_evaluate(r.trainer, &whole, &again));
    assert_true(all.loss == again.loss && all.accuracy == again.accuracy);
    assert_true(all.loss != without[0].loss && all.loss != without[1].loss && without[0].loss != without[1].loss);
    assert_int_equal(without[1].samples, SAMPLES);
    const braid_evaluate_options third = {.part = BRAID_PART_VALIDATE, .blanked = 4};
    assert_int_equal(braid_trainer_evaluate(r.trainer, &third, &all), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
}

static void read_parameters(rig *r, float out[2][200]) {
    ok(braid_model_read(r->model, "layers.0.fc.weight", out[0], ROWS * 12 * sizeof(float)));
    ok(braid_model_read(r->model, "layers.1.fc.weight", out[1], (size_t)CLASSES * 12 * sizeof(float)));
}

/* Two batches of 4 for one update are one batch of 8, where no statistics of a batch are in the way. */
static void accumulation_is_a_larger_batch(void **state) {
    static float parameters[2][2][200];
    (void)state;
    for (int each = 0; each < 2; each++) {
        rig r;
        fill_set(&data, each ? 4 : 8);
        data.samples = 40;
        braid_train_options o = row_options(&data);
        o.step.batch = each ? 4 : 8;
        o.accumulate = each ? 2 : 1;
        open_rig(&r, "mlp", BRAID_DTYPE_F32, 1);
        ok(braid_trainer_create(r.model, &o, &r.trainer));
        ok(braid_trainer_run(r.trainer));
        braid_train_event place;
        braid_trainer_place(r.trainer, &place);
        assert_int_equal(place.step, 15);
        read_parameters(&r, parameters[each]);
        close_rig(&r);
    }
    for (int t = 0; t < 2; t++) {
        for (int j = 0; j < (t ? CLASSES : ROWS) * 12; j++)
            assert_true(fabsf(parameters[0][t][j] - parameters[1][t][j]) < 1e-5F);
    }
}

/* ---- Stopping ----------------------------------------------------------------------------- */

typedef struct watch {
    int64_t stop_at; /* updates */
    int events[4];
    char note[400];
    double rate;
} watch;

static int on_event(void *user, const braid_train_event *e) {
    watch *w = user;
    w->events[e->kind]++;
    w->rate = e->learning_rate;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) snprintf(w->note, sizeof w->note, "%s", e->text);
    return e->kind == BRAID_TRAIN_EVENT_STEP && e->step == w->stop_at;
}

/* Asked by an event, or by the source in place of a batch. */
static void stops_when_asked(void **state) {
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.folder = "whole";
    rig r;
    ok(run_rows(&r, &o, 3));
    close_rig(&r);
    for (int by_source = 0; by_source < 2; by_source++) {
        watch w = {.stop_at = by_source ? -1 : 4};
        o.folder = by_source ? "starved" : "parts";
        o.event = on_event;
        o.user = &w;
        o.resume = 0;
        data.served = 0;
        data.stop_at = by_source ? 4 : -1;
        ok(run_rows(&r, &o, 3));
        assert_int_equal(braid_trainer_is_done(r.trainer), 0);
        assert_int_equal(w.events[BRAID_TRAIN_EVENT_STEP], 4);
        assert_int_equal(w.events[BRAID_TRAIN_EVENT_EPOCH], 0);
        close_rig(&r);
        o.resume = 1;
        w.stop_at = data.stop_at = -1;
        ok(run_rows(&r, &o, 4));
        assert_int_equal(braid_trainer_is_done(r.trainer), 1);
        assert_int_equal(w.events[BRAID_TRAIN_EVENT_STEP], 18);
        assert_int_equal(w.events[BRAID_TRAIN_EVENT_EPOCH], 3);
        close_rig(&r);
        same_tensors("whole/last.safetensors", by_source ? "starved/last.safetensors" : "parts/last.safetensors");
        same_text("whole/metrics.jsonl", by_source ? "starved/metrics.jsonl" : "parts/metrics.jsonl");
    }
}

static void patience_ends_a_run(void **state) {
    rig r;
    braid_train_event place;
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.epochs = 50;
    o.patience = 2;
    o.min_delta = 2; /* nothing is ever that much better than the first */
    ok(run_rows(&r, &o, 3));
    braid_trainer_place(r.trainer, &place);
    assert_int_equal(place.epoch, 4); /* the best, and patience + 1 bad ones */
    assert_int_equal(braid_trainer_is_done(r.trainer), 1);
    close_rig(&r);
}

static void the_rate_follows_the_schedule(void **state) {
    rig r;
    watch w = {.stop_at = -1};
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.schedule = "step:size=1:gamma=0.1";
    o.event = on_event;
    o.user = &w;
    ok(run_rows(&r, &o, 3));
    assert_true(fabs(w.rate - 0.05 * 0.01) < 1e-9);
    close_rig(&r);
}

/* ---- What goes wrong ---------------------------------------------------------------------- */

static void says(const char *words) {
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

/* A loss that is no number: named, and the checkpoint stays. */
static void divergence(void **state) {
    rig r;
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.folder = "run";
    o.steps = 3;
    ok(run_rows(&r, &o, 3));
    close_rig(&r);
    ok(files_make_folder("kept", NULL));
    char *before;
    size_t bytes;
    ok(files_read("run/last.safetensors", 1 << 24, BRAID_ERROR_DATA, &before, &bytes));
    ok(files_write("kept/last.safetensors", before, bytes));
    memory_free(before);
    o.steps = 0;
    o.resume = 1;
    o.learning_rate = 1e30;
    o.save_steps = 1000;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_DIVERGED);
    says("step 5: expected a finite loss");
    says("samples 1");
    close_rig(&r);
    same_tensors("kept/last.safetensors", "run/last.safetensors");
    o.learning_rate = 0.05;
    data.spoil = 26;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_DIVERGED);
    says("sample 126");
    close_rig(&r);
    same_tensors("kept/last.safetensors", "run/last.safetensors");
    fill_set(&data, BATCH);
    data.bad_label = 1;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_DATA);
    says("expected a label from 0 to 2, got 3");
    close_rig(&r);
}

static void flip(const char *path, size_t from_end) {
    char *bytes;
    size_t count;
    ok(files_read(path, 1 << 24, BRAID_ERROR_DATA, &bytes, &count));
    bytes[count - from_end] ^= 1;
    ok(files_write(path, bytes, count));
    memory_free(bytes);
}

static void damaged_checkpoints(void **state) {
    rig r;
    watch w = {.stop_at = -1};
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.folder = "run";
    ok(run_rows(&r, &o, 3));
    close_rig(&r);
    flip("run/last.safetensors", 9);
    o.resume = 1;
    o.epochs = 4;
    o.event = on_event;
    o.user = &w;
    ok(run_rows(&r, &o, 3)); /* goes back to the end of the second epoch */
    assert_int_equal(w.events[BRAID_TRAIN_EVENT_NOTE], 1);
    assert_non_null(strstr(w.note, "went back to run/last.previous.safetensors"));
    assert_int_equal(w.events[BRAID_TRAIN_EVENT_EPOCH], 2);
    close_rig(&r);
    flip("run/last.safetensors", 9);
    flip("run/last.previous.safetensors", 9);
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_MODEL);
    close_rig(&r);
}

static void refusals(void **state) {
    rig r;
    (void)state;
    fill_set(&data, BATCH);
    braid_train_options o = row_options(&data);
    o.folder = "run";
    o.resume = 1;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_MODEL);
    says("no last.safetensors");
    close_rig(&r);
    o.resume = 0;
    ok(run_rows(&r, &o, 3));
    close_rig(&r);
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT); /* over another run */
    says("resume it");
    close_rig(&r);
    o.resume = 1;
    o.seed = 4;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    says("the options that the run began with");
    close_rig(&r);
    o.seed = 0;
    open_rig(&r, "linet18", BRAID_DTYPE_F32, 1); /* another network */
    assert_int_equal(braid_trainer_create(r.model, &o, &r.trainer), BRAID_ERROR_MODEL);
    says("nothing was loaded");
    close_rig(&r);
    o = row_options(&data);
    o.monitor = "fame";
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
    o = row_options(&data);
    o.schedule = "cosin";
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
    o = row_options(&data);
    o.groups = &(braid_rates){0.1, 0, 1};
    o.group_count = 1;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    says("3 groups");
    close_rig(&r);
    o = row_options(&data);
    o.source.next = NULL;
    assert_int_equal(run_rows(&r, &o, 3), BRAID_ERROR_ARGUMENT);
    close_rig(&r);
    assert_int_equal(braid_trainer_create(NULL, &o, &r.trainer), BRAID_ERROR_ARGUMENT);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(resumes_bitwise_f32),
        IN_FOLDER(resumes_bitwise_bf16),
        IN_FOLDER(resumes_bitwise_f16),
        cmocka_unit_test(learns),
        cmocka_unit_test(images_as_rows),
        cmocka_unit_test(looks_with_streams_blanked),
        cmocka_unit_test(accumulation_is_a_larger_batch),
        IN_FOLDER(stops_when_asked),
        cmocka_unit_test(patience_ends_a_run),
        cmocka_unit_test(the_rate_follows_the_schedule),
        IN_FOLDER(divergence),
        IN_FOLDER(damaged_checkpoints),
        IN_FOLDER(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
