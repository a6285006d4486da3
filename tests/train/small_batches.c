/*
 * Tests of training where batch normalisation has few values: maps of 1x1 in batches of one or two samples. A sample
 * that is left over at the end of an epoch is not learned from, modality dropout leaves two samples of every stream,
 * and a batch of one is refused before the first step.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "tests/support/folder.h"

#define SAMPLES 17
#define IMAGE 16 /* pixels; the last maps are 1x1 */
#define CLASSES 3

typedef struct set {
    int64_t batch, samples, at;
    int64_t served;  /* batches of training */
    int64_t stop_at; /* the run ends behind so many updates */
    int64_t learned; /* samples of the epoch that ended last */
    int64_t told;    /* samples of all batches of training that were told */
    unsigned char rgb[SAMPLES][IMAGE * IMAGE * 3], depth[SAMPLES][IMAGE * IMAGE];
    int32_t labels[SAMPLES];
} set;

static set data;

static void fill_set(int64_t batch, int64_t samples) {
    data = (set){.batch = batch, .samples = samples, .stop_at = -1};
    for (int n = 0; n < SAMPLES; n++) {
        data.labels[n] = n % CLASSES;
        for (int j = 0; j < IMAGE * IMAGE * 3; j++) data.rgb[n][j] = (unsigned char)(7 * n + 31 * j);
        for (int j = 0; j < IMAGE * IMAGE; j++) data.depth[n][j] = (unsigned char)(50 * data.labels[n] + j % 90);
    }
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    (void)user;
    (void)part;
    (void)epoch;
    data.at = first_batch * data.batch;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    int64_t left = data.samples - data.at, first = data.at;
    (void)user;
    if (left <= 0) return BRAID_OK;
    batch->count = left < data.batch ? left : data.batch;
    batch->streams[0] = data.rgb[first];
    batch->streams[1] = data.depth[first];
    batch->labels = data.labels + first;
    data.at += batch->count;
    data.served += part == BRAID_PART_TRAIN;
    return BRAID_OK;
}

static int on_event(void *user, const braid_train_event *e) {
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_STEP) data.told += e->samples;
    if (e->kind == BRAID_TRAIN_EVENT_EPOCH) data.learned = e->train.samples;
    return e->kind == BRAID_TRAIN_EVENT_STEP && e->step == data.stop_at;
}

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

/* Two epochs in which every sample loses a stream. */
static braid_status run(const char *folder, int resume) {
    const braid_net_options images = {.streams = 2, .channels = {3, 1}, .classes = CLASSES, .width = 0.0625};
    const braid_train_options o = {.step = {.batch = data.batch,
                                            .size = {IMAGE, IMAGE},
                                            .optimiser = BRAID_OPTIMISER_ADAMW,
                                            .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                   .input = BRAID_DTYPE_U8,
                                   .epochs = 2,
                                   .steps_per_epoch = 1 + data.samples / (data.batch + 1),
                                   .modality_dropout = 1,
                                   .folder = folder,
                                   .resume = resume,
                                   .source = {start, next, NULL},
                                   .event = on_event};
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context));
    ok(braid_net_create("linet18", &images, &net));
    ok(braid_model_create(context, net, &(braid_model_options){.seed = 1}, &model));
    ok(braid_trainer_create(model, &o, &trainer));
    braid_status status = braid_trainer_run(trainer);
    braid_trainer_destroy(trainer);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    return status;
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

/* Also where the run goes on right before it. */
static void one_sample_is_left_over(void **state) {
    (void)state;
    fill_set(8, 17);
    ok(run("whole", 0));
    assert_int_equal(data.learned, 16);
    assert_int_equal(data.told, 2 * 16);
    fill_set(8, 17);
    data.stop_at = 2;
    ok(run("parts", 0));
    assert_int_equal(data.learned, 0); /* in the middle of the first epoch */
    data.stop_at = -1;
    ok(run("parts", 1));
    assert_int_equal(data.learned, 16);
    same_file("whole/last.safetensors", "parts/last.safetensors");
    same_file("whole/metrics.jsonl", "parts/metrics.jsonl");
}

static void two_samples_are_learned_from(void **state) {
    (void)state;
    fill_set(2, 6);
    ok(run(NULL, 0));
    assert_int_equal(data.learned, 6);
    fill_set(4, 6);
    ok(run(NULL, 0));
    assert_int_equal(data.learned, 6);
    assert_int_equal(data.told, 2 * 6);
}

/* A batch of one, by request or because there are no more samples. */
static void one_sample_is_refused(void **state) {
    (void)state;
    for (int batch = 1; batch <= 8; batch += 7) {
        fill_set(batch, batch == 1 ? 6 : 1);
        assert_int_equal(run(NULL, 0), BRAID_ERROR_ARGUMENT);
        assert_non_null(strstr(braid_message(), "use a larger batch"));
        assert_int_equal(braid_message_detail(), BRAID_DETAIL_SMALL_BATCH);
        assert_int_equal(data.served, 1);
    }
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_sample_is_left_over),
        cmocka_unit_test(two_samples_are_learned_from),
        cmocka_unit_test(one_sample_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
