/*
 * Tests of updates that are done twice: they change no bit of a run, with everything random switched on, and a device
 * that gives one wrong bit is found out, whatever it is a bit of, and never saved.
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
#include "plan/model.h"
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

static void run_images(braid_dtype dtype, int64_t every, int accumulate, const char *folder) {
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
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
    for (size_t j = 0; j < sizeof pixels; j++) pixels[j] = (unsigned char)(j * j % 251);
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context));
    ok(braid_net_create("linet18", &images, &net));
    ok(braid_model_create(context, net, &(braid_model_options){.dtype = dtype, .seed = 1}, &model));
    ok(braid_trainer_create(model, &o, &trainer));
    ok(braid_trainer_run(trainer));
    braid_trainer_destroy(trainer);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
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
        small_run_close(&r);
        assert_int_equal(rmdir("run"), 0); /* nothing was saved */
    }
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
        cmocka_unit_test(others_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
