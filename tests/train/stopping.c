/*
 * Tests of train/stopping: patience + 1 bad epochs end a run, what counts as better, saving and loading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "train/stopping.h"

/* The epoch, from 0, at whose end the run stops; -1: it does not. */
static int64_t stops_at(const stopping_options *o, const double *metrics, int count, stopping_state *state) {
    *state = (stopping_state){0};
    for (int epoch = 0; epoch < count; epoch++) {
        stopping_observe(o, state, epoch, metrics[epoch]);
        if (state->stopped) return epoch;
    }
    return -1;
}

static void patience_and_one(void **unused) {
    (void)unused;
    static const double flat[40] = {1};
    stopping_state state;
    for (int patience = 0; patience < 20; patience++) {
        const stopping_options loss = {STOPPING_VAL_LOSS, patience, 1e-3};
        double metrics[40];
        for (int i = 0; i < 40; i++) metrics[i] = i < 4 ? 1 - 0.1 * i : 0.8; /* the best is epoch 3 */
        assert_int_equal(stops_at(&loss, metrics, 40, &state), 3 + patience + 1);
        assert_int_equal(state.best_epoch, 3);
        assert_int_equal(state.bad, patience + 1);
        const stopping_options accuracy = {STOPPING_VAL_ACCURACY, patience, 1e-3};
        assert_int_equal(stops_at(&accuracy, flat, 40, &state), patience + 1); /* epoch 0 is the best */
    }
}

static void counter_starts_again(void **unused) {
    (void)unused;
    const stopping_options o = {STOPPING_VAL_LOSS, 2, 0};
    stopping_state state;
    static const double metrics[] = {5, 6, 6, 4, 6, 6, 3, 6, 6, 6};
    assert_int_equal(stops_at(&o, metrics, 10, &state), 9);
    assert_true(state.best == 3);
    assert_int_equal(state.best_epoch, 6);
}

static void better_by_more_than_delta(void **unused) {
    (void)unused;
    const stopping_options loss = {STOPPING_VAL_LOSS, 10, 0.25}, accuracy = {STOPPING_VAL_ACCURACY, 10, 0.25};
    stopping_state state = {0};
    assert_true(stopping_observe(&loss, &state, 0, 1));
    assert_false(stopping_observe(&loss, &state, 1, 0.75)); /* exactly the delta is not enough */
    assert_true(stopping_observe(&loss, &state, 2, 0.74));
    state = (stopping_state){0};
    assert_true(stopping_observe(&accuracy, &state, 0, 0.5));
    assert_false(stopping_observe(&accuracy, &state, 1, 0.75));
    assert_false(stopping_observe(&accuracy, &state, 2, 0.2));
    assert_int_equal(state.bad, 2);
    assert_true(stopping_observe(&accuracy, &state, 3, 0.76));
    assert_int_equal(state.bad, 0);
}

static void not_a_number(void **unused) {
    (void)unused;
    const stopping_options o = {STOPPING_VAL_LOSS, 2, 1e-3};
    stopping_state state;
    static const double never[] = {NAN, INFINITY, -INFINITY, NAN};
    assert_int_equal(stops_at(&o, never, 4, &state), 2);
    assert_false(state.seen);
    static const double later[] = {NAN, NAN, 3, NAN, NAN, NAN};
    assert_int_equal(stops_at(&o, later, 6, &state), 5);
    assert_int_equal(state.best_epoch, 2);
}

static json_t *through_text(json_t *value) {
    char *text;
    size_t bytes;
    json_t *read;
    assert_int_equal(json_write(value, &text, &bytes), BRAID_OK);
    assert_int_equal(json_read(text, bytes, "state", BRAID_ERROR_DATA, &read), BRAID_OK);
    memory_free(text);
    json_decref(value);
    return read;
}

static void survives_saving(void **unused) {
    (void)unused;
    const stopping_options o = {STOPPING_VAL_ACCURACY, 3, 1e-3};
    static const double metrics[] = {NAN, 0.1, 0.3, 0.2, 0.2, 0.3, 0.1};
    stopping_state plain, state = {0};
    assert_int_equal(stops_at(&o, metrics, 7, &plain), 6);
    for (int epoch = 0; epoch < 7; epoch++) {
        json_t *saved = through_text(stopping_save(&o, &state));
        memset(&state, 0x55, sizeof state);
        assert_int_equal(stopping_load(saved, &state), BRAID_OK);
        json_decref(saved);
        stopping_observe(&o, &state, epoch, metrics[epoch]);
    }
    assert_true(state.stopped && state.best == 0.3 && state.best_epoch == 2 && state.bad == 4);
    json_t *saved = stopping_save(&o, &state); /* the keys of the history */
    assert_true(json_is_true(json_object_get(saved, "stopped_early")));
    assert_int_equal(json_integer_value(json_object_get(saved, "best_epoch")), 2);
    assert_true(json_real_value(json_object_get(saved, "best_metric")) == 0.3);
    assert_string_equal(json_string_value(json_object_get(saved, "monitor")), "val_accuracy");
    assert_int_equal(json_integer_value(json_object_get(saved, "patience")), 3);
    assert_true(json_real_value(json_object_get(saved, "min_delta")) == 1e-3);
    json_decref(saved);
}

static void refusals(void **unused) {
    (void)unused;
    static const char *const wrong[] = {
        "{}", "{\"stopped_early\":1}", "{\"stopped_early\":true,\"best_epoch\":1,\"bad_epochs\":-1,\"best_metric\":1}",
        "{\"stopped_early\":true,\"best_epoch\":1,\"bad_epochs\":1}",
        "{\"stopped_early\":true,\"best_epoch\":0.5,\"bad_epochs\":1,\"best_metric\":null}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        stopping_state state = {.bad = 77};
        json_t *saved = json_loads(wrong[i], 0, NULL);
        assert_int_equal(stopping_load(saved, &state), BRAID_ERROR_DATA);
        assert_int_equal(state.bad, 77);
        json_decref(saved);
    }
    stopping_monitor monitor;
    assert_int_equal(stopping_monitor_read("val_accuracy", &monitor), BRAID_OK);
    assert_int_equal(monitor, STOPPING_VAL_ACCURACY);
    assert_int_equal(stopping_monitor_read("val_loss", &monitor), BRAID_OK);
    assert_int_equal(monitor, STOPPING_VAL_LOSS);
    assert_int_equal(stopping_monitor_read("loss", &monitor), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "\"loss\""));
    assert_int_equal(stopping_monitor_read(NULL, &monitor), BRAID_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patience_and_one),          cmocka_unit_test(counter_starts_again),
        cmocka_unit_test(better_by_more_than_delta), cmocka_unit_test(not_a_number),
        cmocka_unit_test(survives_saving),           cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
