/*
 * Tests of updates that are done twice: they change no bit of a run, with everything random switched on, and a device
 * that gives one wrong bit is found out, whatever it is a bit of, and never saved; from the bytes of a batch on, and
 * over all batches of an update.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "braid.h"
#include "core/files.h"
#include "core/memory.h"
#include "model/model.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "train/trainer.h"

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

/* ---- The same bits -------------------------------------------------------------------------- */

#define IMAGE 16
#define SAMPLES 8

static unsigned char pixels[SAMPLES * IMAGE * IMAGE * 3];
static int64_t served;

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    (void)user;
    (void)part;
    (void)epoch;
    served = first_batch;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    static const int32_t labels[SAMPLES] = {0, 1, 2, 0, 1, 2, 0, 1};
    (void)user;
    (void)part;
    if (served++ >= 2) return BRAID_OK;
    *batch = (braid_train_batch){.count = SAMPLES, .streams = {pixels, pixels}, .labels = labels};
    return BRAID_OK;
}

typedef struct image_run {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
} image_run;

static void open_images(image_run *r, braid_dtype dtype, int64_t every, int accumulate, const char *folder) {
    const braid_net_options images = {.streams = 2, .channels = {3, 1}, .classes = 3, .width = 0.125, .dropout = 0.5};
    const braid_train_options o = {.step = {.batch = SAMPLES,
                                            .size = {IMAGE, IMAGE},
                                            .optimiser = BRAID_OPTIMISER_ADAMW,
                                            .clip_norm = 5,
                                            .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                                   .input = BRAID_DTYPE_U8,
                                   .epochs = 3,
                                   .steps_per_epoch = 2 / accumulate,
                                   .accumulate = accumulate,
                                   .augment = 1,
                                   .modality_dropout = 0.3,
                                   .verify_every = every,
                                   .folder = folder,
                                   .source = {start, next, NULL}};
    for (size_t j = 0; j < sizeof pixels; j++) pixels[j] = (unsigned char)(j * j % 251);
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r->context));
    ok(braid_net_create("linet18", &images, &r->net));
    ok(braid_model_create(r->context, r->net, &(braid_model_options){.dtype = dtype, .seed = 1}, &r->model));
    ok(braid_trainer_create(r->model, &o, &r->trainer));
}

static void close_images(image_run *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
}

static void run_images(braid_dtype dtype, int64_t every, int accumulate, const char *folder) {
    image_run r;
    open_images(&r, dtype, every, accumulate, folder);
    ok(braid_trainer_run(r.trainer));
    close_images(&r);
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

static void no_bit_changes(void **state) {
    static const struct {
        braid_dtype dtype;
        int accumulate;
    } runs[] = {{BRAID_DTYPE_F32, 1}, {BRAID_DTYPE_BF16, 1}, {BRAID_DTYPE_F32, 2}};
    char once[32], twice[32], path[2][64];
    (void)state;
    for (int j = 0; j < 3; j++) {
        snprintf(once, sizeof once, "once%d", j);
        snprintf(twice, sizeof twice, "twice%d", j);
        run_images(runs[j].dtype, 0, runs[j].accumulate, once);
        run_images(runs[j].dtype, 1 + j % 2, runs[j].accumulate, twice);
        for (int k = 0; k < 2; k++) {
            const char *name = k ? "metrics.jsonl" : "last.safetensors";
            snprintf(path[0], sizeof path[0], "%s/%s", once, name);
            snprintf(path[1], sizeof path[1], "%s/%s", twice, name);
            same_file(path[0], path[1]);
        }
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- A wrong bit ---------------------------------------------------------------------------- */

static const backend *good;
static const void *wrong_at; /* what is read from here is wrong, */
static int after;            /* from the so manyth time on */

static braid_status wrong_download(device *d, void *to, const void *from, size_t bytes) {
    braid_status status = good->download(d, to, from, bytes);
    if (from == wrong_at && after-- == 0) ((unsigned char *)to)[bytes / 2] ^= 16;
    return status;
}

/* An update reads every area three times: to keep it, and behind each of the two runs. */
static void a_wrong_bit_is_found(void **state) {
    static const char *const names[] = {"parameters", "gradients", "first moments", "loss and norm"};
    (void)state;
    for (int j = 0; j < 4; j++) {
        small_run r;
        backend faulty;
        braid_train_options o = small_run_options();
        o.steps = 5;
        o.verify_every = 3;
        o.folder = "run";
        ok(small_run_open(&r, &o));
        ok(model_need_training(r.model, 1, 0));
        void *const areas[] = {r.model->weights, r.model->gradients, r.model->m, r.model->metrics};
        device *d = r.context->device;
        good = d->backend;
        faulty = *good;
        faulty.download = wrong_download;
        d->backend = &faulty;
        wrong_at = areas[j];
        after = 2;
        braid_status status = braid_trainer_run(r.trainer);
        d->backend = good;
        assert_int_equal(status, BRAID_ERROR_DEVICE);
        assert_non_null(strstr(braid_message(), "step 3: expected the same bits from the same update, got others in "));
        assert_non_null(strstr(braid_message(), names[j]));
        assert_non_null(strstr(braid_message(), "cpu ("));
        assert_int_equal(small_run_step(&r), 2);
        assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT); /* nor gone on with */
        assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_ARGUMENT);
        assert_non_null(strstr(braid_message(), "got one whose last step failed half done"));
        small_run_close(&r);
        assert_int_equal(access("run", F_OK), -1); /* nothing was saved */
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- From the bytes on ---------------------------------------------------------------------- */

static int feeds; /* times that the bytes of a batch went to the device */
static size_t batch_bytes;

static braid_status wrong_upload(device *d, void *to, const void *from, size_t bytes) {
    unsigned char *wrong = NULL;
    if (from != pixels || bytes != batch_bytes || ++feeds != 4) return good->upload(d, to, from, bytes);
    ok(memory_alloc(bytes, 1, "wrong bytes", (void **)&wrong));
    memcpy(wrong, from, bytes);
    wrong[0] ^= 64;
    braid_status status = good->upload(d, to, wrong, bytes);
    memory_free(wrong);
    return status;
}

/* A batch is normalised and augmented again: of the two verified updates the second meets one wrong byte, on its
 * second way. */
static void inputs_are_made_again(void **state) {
    image_run r;
    backend faulty;
    (void)state;
    open_images(&r, BRAID_DTYPE_F32, 1, 1, NULL);
    device *d = r.context->device;
    good = d->backend;
    faulty = *good;
    faulty.upload = wrong_upload;
    d->backend = &faulty;
    feeds = 0;
    batch_bytes = sizeof pixels;
    braid_status status = braid_trainer_run(r.trainer);
    d->backend = good;
    assert_int_equal(status, BRAID_ERROR_DEVICE);
    assert_non_null(strstr(braid_message(), "step 2: expected the same bits from the same update, got others in "));
    assert_non_null(strstr(braid_message(), "gradients"));
    assert_int_equal(feeds, 4);
    close_images(&r);
    assert_int_equal(memory_live(), 0);
}

static int find_sum(void *user, const braid_train_event *e) {
    image_run *r = user;
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->batch == 1) wrong_at = r->trainer->spare; /* of the next batch */
    return 0;
}

/* The sum over the batches of an update is made again, too. */
static void sums_are_made_again(void **state) {
    image_run r;
    backend faulty;
    (void)state;
    open_images(&r, BRAID_DTYPE_F32, 1, 2, NULL);
    r.trainer->options.event = find_sum;
    r.trainer->options.user = &r;
    device *d = r.context->device;
    good = d->backend;
    faulty = *good;
    faulty.download = wrong_download;
    d->backend = &faulty;
    wrong_at = NULL;
    after = 2;
    braid_status status = braid_trainer_run(r.trainer);
    d->backend = good;
    assert_int_equal(status, BRAID_ERROR_DEVICE);
    assert_non_null(
        strstr(braid_message(), "step 1: expected the same bits from the same update, got others in the sum"));
    close_images(&r);
    assert_int_equal(memory_live(), 0);
}

/* Nobody looks at other updates. */
static void others_are_not_looked_at(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = small_run_options();
    o.steps = 5;
    o.verify_every = 6;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    assert_null(r.trainer->kept);
    small_run_close(&r);
    o.verify_every = -1;
    assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(no_bit_changes),
        IN_FOLDER(a_wrong_bit_is_found),
        cmocka_unit_test(inputs_are_made_again),
        cmocka_unit_test(sums_are_made_again),
        cmocka_unit_test(others_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
