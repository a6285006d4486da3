/*
 * Tests of what is watched behind epochs and steps: streams, in validation and on training samples, without a trace in
 * the training; the best loss; running statistics; the memory that the source of data needs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/train/image_run.h"

#include "model/model.h"

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

/* Correct answers of a share of the training samples, one by one. */
static double accuracy_of_first(rig *r, uint32_t blanked, int count) {
    static told t;
    const braid_evaluate_options o = {BRAID_PART_TRAIN, blanked, on_sample, &t};
    braid_train_metrics m;
    double correct = 0;
    t.count = 0;
    ok(braid_trainer_evaluate(r->trainer, &o, &m));
    for (int j = 0; j < count; j++) correct += t.samples[j].answer == t.samples[j].label;
    return correct / count;
}

/* The first samples of the source's epoch 0, with their own labels, whatever epoch it is; of two streams each alone, of
 * more without it. */
static void training_samples_are_watched(void **state) {
    enum { FIRST = 13 }; /* a batch and a part of one */
    (void)state;
    for (int streams = 2; streams <= STREAMS; streams++) {
        rig r;
        watch w = {0};
        json_t *columns;
        braid_train_options o = image_options();
        braid_net_options net = three;
        double seen[STREAMS];
        fill_set();
        learn_one(&o);
        net.streams = streams;
        net.channels[2] = streams == 3;
        o.folder = streams == 2 ? "two" : "three";
        o.stream_epochs = 5;
        o.stream_samples = FIRST;
        o.event = on_event;
        o.user = &w;
        open_rig(&r, "linet18", &net, BRAID_DTYPE_F32, &o);
        ok(braid_trainer_run(r.trainer));
        assert_true(w.with_streams == 3 && w.trained == 3 * streams * FIRST && w.of_epoch_0 == w.trained);
        ok(history_read(streams == 2 ? "two/metrics.jsonl" : "three/metrics.jsonl", &columns));
        for (int i = 0; i < streams; i++) {
            char name[40];
            snprintf(name, sizeof name, "stream_%d_train_acc", i);
            for (size_t row = 0; row < 11; row++)
                assert_int_equal(isnan(number_of(columns, name, row)), row != 4 && row < 9);
            seen[i] = number_of(columns, name, 10);
            assert_true(seen[i] == accuracy_of_first(&r, UINT32_C(1) << (streams == 2 ? 1 - i : i), FIRST));
        }
        if (streams == 2 ? seen[1] <= seen[0] : seen[0] <= seen[1]) fail_msg("got %g and %g", seen[0], seen[1]);
        json_decref(columns);
        close_rig(&r);
    }
}

/* The lowest loss of all epochs is told at the end, also where it is that of another process. */
static void the_best_loss_is_told(void **state) {
    (void)state;
    for (int parts = 1; parts <= 2; parts++) {
        rig r;
        watch w = {.fades_behind = 10};
        json_t *columns;
        double best = INFINITY;
        braid_train_options o = image_options();
        fill_set();
        learn_one(&o);
        o.folder = parts == 1 ? "whole" : "parts";
        o.event = on_event;
        o.user = &w;
        for (int part = 1; part <= parts; part++) {
            o.steps = part < parts ? 3 * 10 + 1 : 0;
            o.resume = part > 1;
            run_images(&o, &r);
            close_rig(&r);
        }
        ok(history_read(parts == 1 ? "whole/metrics.jsonl" : "parts/metrics.jsonl", &columns));
        for (size_t row = 0; row < 11; row++) best = fmin(best, number_of(columns, "train_loss", row));
        assert_true(json_number_value(json_object_get(columns, "best_train_loss")) == best);
        assert_true(best < number_of(columns, "train_loss", 10));
        json_decref(columns);
    }
    same_bytes("whole/metrics.jsonl", "parts/metrics.jsonl", 1);
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
    watch w = {.stop_at = 2, .stop_in = BRAID_PART_VALIDATE};
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
    w.stop_in = BRAID_PART_TRAIN;
    o.resume = 1;
    run_images(&o, &r);
    assert_int_equal(w.epochs, 0);
    close_rig(&r);
    w.stop_at = 0;
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

/* ---- Statistics --------------------------------------------------------------------------- */

/* Behind its fourth update, one number of a running statistic becomes infinite. */
static int spoil(void *user, const braid_train_event *e) {
    static float zeros[4096];
    rig *r = user;
    const graph *g = r->model->graph;
    int j = 0;
    if (e->kind != BRAID_TRAIN_EVENT_STEP || e->step != 4) return 0;
    while (g->planes[j].kind != PLANE_STATE || g->planes[j].is_counter) j++;
    int64_t count = plane_elements(&g->planes[j]);
    assert_in_range(count, 1, 4096);
    zeros[count - 1] = INFINITY;
    ok(braid_model_write(r->model, g->planes[j].name, zeros, (size_t)count * sizeof *zeros));
    return 0;
}

/* It is found behind the next step, and not behind the epoch. */
static void statistics_are_looked_at(void **state) {
    rig r = {0};
    braid_train_options o = image_options();
    (void)state;
    fill_set();
    o.folder = "run";
    o.event = spoil;
    o.user = &r;
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, &o);
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DIVERGED);
    says("step 5: expected a finite ");
    says(", got inf, in a batch of samples 508, 509, ");
    says("the last good checkpoint is run/last.safetensors: go on from it");
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_DIVERGED);
    close_rig(&r);
}

/* ---- Memory ------------------------------------------------------------------------------- */

/* What the source will take is not free for the plans of the first step; a smaller batch takes less of it. */
static void the_source_needs_memory_too(void **state) {
    rig r;
    unsigned long long kib = 0;
    char line[256];
    braid_train_options o = image_options();
    (void)state;
    FILE *info = fopen("/proc/meminfo", "r");
    while (info && kib == 0 && fgets(line, sizeof line, info)) (void)!sscanf(line, "MemAvailable: %llu", &kib);
    if (info) fclose(info);
    if (kib == 0) skip();
    fill_set();
    o.epochs = 1;
    o.samples = SAMPLES;
    o.source_bytes = (size_t)kib * 2253; /* 2.2 times of what there is, for a batch of 8 */
    open_rig(&r, "linet18", &three, BRAID_DTYPE_F32, &o);
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_MEMORY);
    says("plan of batch 8: needs 0.0");
    const char *advice = strstr(braid_message(), " GB for the reading of data; batch ");
    assert_non_null(advice);
    assert_in_range(advice[strlen(" GB for the reading of data; batch ")], '2', '3'); /* 1 sample has no statistics */
    close_rig(&r);
    o.source_bytes = (size_t)kib << 9; /* half of it */
    run_images(&o, &r);
    close_rig(&r);
}
int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(streams_are_watched),
        IN_FOLDER(of_two_streams_each_is_alone),
        IN_FOLDER(training_samples_are_watched),
        IN_FOLDER(the_best_loss_is_told),
        IN_FOLDER(watching_leaves_no_trace),
        IN_FOLDER(statistics_are_looked_at),
        cmocka_unit_test(the_source_needs_memory_too),
        IN_FOLDER(watching_resumes),
        cmocka_unit_test(early_stopping_looks_at_its_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
