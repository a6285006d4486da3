/*
 * A training run that is as small as can be, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/small_run.h"

#include "core/rng.h"
#include "train/trainer.h"

#define ROWS 6
#define CLASSES 3
#define BATCH 8
#define BATCHES 6

static float rows[BATCH * BATCHES][ROWS];
static int32_t labels[BATCH * BATCHES];
static int64_t next_batch;

static void fill_rows(void) {
    rng numbers = {.seed = 5, .stream = 1};
    for (int n = 0; n < BATCH * BATCHES; n++) {
        labels[n] = n % CLASSES;
        for (int j = 0; j < ROWS; j++)
            rows[n][j] = (float)(rng_uniform(&numbers) - 0.5) + (j % CLASSES == labels[n] ? 1.0F : 0.0F);
    }
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    (void)user;
    (void)part;
    (void)epoch;
    next_batch = first_batch;
    return BRAID_OK;
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    int64_t first = next_batch * BATCH;
    (void)user;
    (void)part;
    if (next_batch++ >= BATCHES) return BRAID_OK;
    batch->count = BATCH;
    batch->streams[0] = rows[first];
    batch->labels = labels + first;
    return BRAID_OK;
}

braid_train_options small_run_options(void) {
    return (braid_train_options){
        .step = {.batch = BATCH,
                 .optimiser = BRAID_OPTIMISER_SGD,
                 .momentum = 0.9,
                 .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
        .input = BRAID_DTYPE_F32,
        .learning_rate = 1e-3,
        .schedule = "constant",
        .epochs = 1000000,
        .steps_per_epoch = BATCHES,
        .source = {start, next, NULL},
    };
}

braid_status small_run_open(small_run *r, const braid_train_options *options) {
    const braid_net_options layers = {.layers = {ROWS, 12, CLASSES}};
    *r = (small_run){0};
    fill_rows();
    TRY(braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .cache_dir = ""}, &r->context));
    TRY(braid_net_create("mlp", &layers, &r->net));
    TRY(braid_model_create(r->context, r->net, &(braid_model_options){.seed = 3}, &r->model));
    TRY(braid_trainer_create(r->model, options, &r->trainer));
    r->trainer->pause_ms = 0; /* a disk that was made to fail is not worth waiting for */
    return BRAID_OK;
}

void small_run_close(small_run *r) {
    braid_trainer_destroy(r->trainer);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
    *r = (small_run){0};
}

int64_t small_run_step(const small_run *r) {
    braid_train_event place;
    braid_trainer_place(r->trainer, &place);
    return place.step;
}
