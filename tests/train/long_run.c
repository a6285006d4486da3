/*
 * Many tiny steps: memory and open files stay as they were after the first ones. BRAID_STEPS steps, 3000 where it is
 * not set; make test-full runs 100000.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "braid.h"
#include "core/memory.h"
#include "tests/support/folder.h"

#define FEW 3000
#define ROWS 3
#define BATCH 4
#define PARTS 10        /* a run has so many epochs */
#define SLACK_PAGES 256 /* a megabyte: allocators and the runtime of threads may still settle */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_FREED_MEMORY 1 /* the process grows by itself */
#else
#define KEEPS_FREED_MEMORY 0
#endif

typedef struct place {
    long pages;
    int files;
    int64_t live;
} place;

typedef struct watch {
    int64_t steps, left, batches;
    place early, late;
} watch;

static place look(void) {
    place now = {.files = folder_entries("/proc/self/fd"), .live = memory_live()};
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %ld", &now.pages), 1);
    fclose(file);
    return now;
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    watch *w = user;
    (void)epoch;
    w->left = part == BRAID_PART_TRAIN ? w->batches - first_batch : 1;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    static const float rows[BATCH][ROWS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
    static const int32_t labels[BATCH] = {0, 1, 1, 0};
    watch *w = user;
    (void)part;
    if (w->left-- <= 0) return BRAID_OK;
    batch->count = BATCH;
    batch->streams[0] = rows;
    batch->labels = labels;
    return BRAID_OK;
}

static int on_event(void *user, const braid_train_event *e) {
    watch *w = user;
    if (e->kind != BRAID_TRAIN_EVENT_EPOCH) return 0;
    if (e->epoch == 1) w->early = look();
    w->late = look();
    return 0;
}

static void stays_as_it_was(void **state) {
    const char *wanted = getenv("BRAID_STEPS");
    watch w = {.steps = wanted ? strtoll(wanted, NULL, 10) : FEW};
    const braid_net_options layers = {.layers = {ROWS, 4, 2}};
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
    (void)state;
    w.batches = w.steps / PARTS;
    const braid_train_options o = {
        .step = {.batch = BATCH, .optimiser = BRAID_OPTIMISER_ADAMW, .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
        .epochs = PARTS,
        .steps_per_epoch = w.batches,
        .folder = "run",
        .source = {start, next, &w},
        .event = on_event,
        .user = &w};
    assert_int_equal(
        braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = "", .threads = 1}, &context), 0);
    assert_int_equal(braid_net_create("mlp", &layers, &net), 0);
    assert_int_equal(braid_model_create(context, net, NULL, &model), 0);
    assert_int_equal(braid_trainer_create(model, &o, &trainer), 0);
    if (braid_trainer_run(trainer)) fail_msg("%s", braid_message());
    braid_train_event end;
    braid_trainer_place(trainer, &end);
    assert_int_equal(end.step, w.batches * PARTS);
    print_message("%lld steps: %ld pages then, %ld at the end; %d files, %d; %lld blocks, %lld\n", (long long)end.step,
                  w.early.pages, w.late.pages, w.early.files, w.late.files, (long long)w.early.live,
                  (long long)w.late.live);
    assert_int_equal(w.late.files, w.early.files);
    assert_int_equal(w.late.live, w.early.live);
    if (!KEEPS_FREED_MEMORY) assert_true(w.late.pages <= w.early.pages + SLACK_PAGES);
    braid_trainer_destroy(trainer);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(stays_as_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
