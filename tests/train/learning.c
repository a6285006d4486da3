/*
 * Whether a network learns: from files on disk through the loader, a small LINet on small synthetic rooms, whose class
 * is in all three streams together. It must get well beyond chance and beyond what any one stream tells, and must need
 * each of its streams.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "braid.h"
#include "braid_lab.h"
#include "core/memory.h"
#include "tests/support/folder.h"

enum { BATCH = 12, STREAMS = 3, SIDE = 40, SAMPLES = 480, EPOCHS = 10, SEED = 1 };

typedef struct rooms {
    braid_data *data;
    braid_loader *loaders[BRAID_PART_COUNT];
} rooms;

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s / %s", (int)status, braid_message(), braid_lab_message());
}

static braid_status start(void *user, braid_part part, int64_t epoch, int64_t first_batch) {
    const rooms *r = user;
    return braid_loader_start(r->loaders[part], epoch, first_batch);
}

static braid_status next(void *user, braid_part part, braid_train_batch *batch) {
    const rooms *r = user;
    braid_batch read;
    braid_status status = braid_loader_next(r->loaders[part], &read);
    *batch = (braid_train_batch){.count = read.count, .labels = read.labels, .ids = read.ids};
    memcpy(batch->streams, read.streams, sizeof read.streams);
    return status;
}

static void open_rooms(rooms *r) {
    const braid_data_make_options options = {.size = {SIDE, SIDE}, .count = SAMPLES, .seed = SEED};
    ok(braid_data_make(BRAID_DATA_SUNRGBD, "rooms", &options));
    ok(braid_data_open("rooms", NULL, &r->data));
    for (int part = 0; part < BRAID_PART_COUNT; part++)
        ok(braid_loader_create(r->data,
                               &(braid_loader_options){.split = part ? BRAID_SPLIT_VAL : BRAID_SPLIT_TRAIN,
                                                       .batch = BATCH,
                                                       .in_order = part,
                                                       .drop_partial = 1,
                                                       .seed = SEED},
                               &r->loaders[part]));
}

static void close_rooms(rooms *r) {
    for (int part = 0; part < BRAID_PART_COUNT; part++) braid_loader_destroy(r->loaders[part]);
    braid_data_destroy(r->data);
}

static int on_event(void *user, const braid_train_event *e) {
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_EPOCH)
        print_message("epoch %d: loss %.3f, accuracy %.3f; validation %.3f, %.3f\n", (int)e->epoch, e->train.loss,
                      e->train.accuracy, e->validate.loss, e->validate.accuracy);
    return 0;
}

static braid_train_options describe(rooms *r) {
    const braid_data_info *info = braid_data_describe(r->data);
    braid_train_options o = {.step = {.batch = BATCH,
                                      .size = {info->size[0], info->size[1]},
                                      .optimiser = BRAID_OPTIMISER_ADAMW,
                                      .choice = {.effort = BRAID_EFFORT_ESTIMATE}},
                             .input = BRAID_DTYPE_U8,
                             .learning_rate = 3e-3,
                             .epochs = EPOCHS,
                             .steps_per_epoch = braid_loader_batches(r->loaders[BRAID_PART_TRAIN]),
                             .source = {start, next, r},
                             .event = on_event};
    for (int i = 0; i < STREAMS; i++) {
        memcpy(o.mean[i], info->mean[i], sizeof o.mean[i]);
        memcpy(o.std[i], info->std[i], sizeof o.std[i]);
    }
    return o;
}

/* A class of 15: 0.07 by chance, 0.27 by the best of the streams alone, 0.53 by the best two. */
static void check(const double accuracy[STREAMS + 1]) {
    print_message("accuracy %.3f; without each stream %.3f, %.3f, %.3f\n", accuracy[0], accuracy[1], accuracy[2],
                  accuracy[3]);
    assert_true(accuracy[0] > 0.38);
    for (int i = 1; i <= STREAMS; i++) assert_true(accuracy[i] < accuracy[0] - 0.08);
}

static void learns_from_three_streams(void **state) {
    rooms r = {0};
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_trainer *trainer;
    double accuracy[STREAMS + 1];
    (void)state;
    open_rooms(&r);
    const braid_net_options small = {.streams = STREAMS, .channels = {3, 1, 1}, .classes = 15, .width = 0.125};
    const braid_train_options o = describe(&r);
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context));
    ok(braid_net_create("linet18", &small, &net));
    ok(braid_model_create(context, net, &(braid_model_options){.seed = SEED}, &model));
    ok(braid_trainer_create(model, &o, &trainer));
    ok(braid_trainer_run(trainer));
    for (int i = 0; i <= STREAMS; i++) { /* with all streams, then without each of them */
        const braid_evaluate_options seen = {.part = BRAID_PART_VALIDATE, .blanked = i ? UINT32_C(1) << (i - 1) : 0};
        braid_train_metrics m;
        ok(braid_trainer_evaluate(trainer, &seen, &m));
        accuracy[i] = m.accuracy;
    }
    braid_trainer_destroy(trainer);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    close_rooms(&r);
    assert_int_equal(memory_live(), 0);
    check(accuracy);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(learns_from_three_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
