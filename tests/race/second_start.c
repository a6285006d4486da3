/*
 * Tests of the second start of a network: what the first had no time to race, and what it did race, is not raced again
 * within as many seconds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>

#include "braid.h"
#include "core/memory.h"
#include "tests/support/given.h"

#define OK(call)                                                 \
    do {                                                         \
        if ((call) != BRAID_OK) fail_msg("%s", braid_message()); \
    } while (0)

static char folder[256];

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
    return 0;
}

/* The calls of a plan whose kernel was chosen by times, read or measured. */
static void count_calls(const braid_plan *plan, int *measured, int *read) {
    *measured = *read = 0;
    for (int j = 0; j < braid_plan_step_count(plan); j++) {
        braid_step_info info;
        OK(braid_plan_step(plan, j, &info));
        if (info.race->winner < 0 || info.race->candidates[info.race->winner].median_s <= 0) continue;
        *measured += !info.race->from_wisdom;
        *read += info.race->from_wisdom;
    }
}

/* Starts a process's worth: a context, a network and a plan. */
static void start(double seconds, int again, int *measured, int *read) {
    const braid_plan_request request = {.batch = 2, .choice = {.seconds = seconds, .again = again}};
    braid_context *context = given_context(folder, NULL);
    braid_net *net = NULL;
    braid_model *model = NULL;
    braid_plan *plan = NULL;
    OK(braid_net_create("mlp", &(braid_net_options){.layers = {20, 64, 64, 10}}, &net));
    OK(braid_model_create(context, net, NULL, &model));
    OK(braid_plan_create(model, &request, &plan));
    count_calls(plan, measured, read);
    braid_plan_destroy(plan);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
}

static void races_are_not_run_twice(void **state) {
    int measured, read, all;
    (void)state;
    start(30, 0, &all, &read);
    assert_true(all > 0);
    assert_int_equal(read, 0);
    start(30, 0, &measured, &read);
    assert_int_equal(measured, 0);
    assert_int_equal(read, all);
    start(30, 1, &measured, &read); /* asked to measure again: another kernel may win, in other steps */
    assert_true(measured > 0);
    assert_int_equal(read, 0);
}

static void what_was_left_out_stays_out_for_as_many_seconds(void **state) {
    int measured, read, left;
    (void)state;
    start(1e-9, 0, &measured, &read); /* no time for any race */
    assert_int_equal(measured, 0);
    left = given_entries(folder, ".left");
    assert_true(left > 0);
    start(1e-9, 0, &measured, &read);
    assert_int_equal(measured + read, 0);
    assert_int_equal(given_entries(folder, ".left"), left);
    start(30, 0, &measured, &read); /* more time: all of them */
    assert_true(measured >= left);
    start(1e-9, 0, &measured, &read); /* and from then on their times are known */
    assert_int_equal(measured, 0);
    assert_true(read >= left);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(races_are_not_run_twice),
        CASE(what_was_left_out_stays_out_for_as_many_seconds),
    };
    return cmocka_run_group_tests_name("second_start", tests, NULL, NULL);
}
