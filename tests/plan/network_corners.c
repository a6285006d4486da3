/*
 * Networks that people build and that planners trip over: additions of streams with different blanked samples,
 * reshapes beside masks, an output that later ops read too, two plans of one model with dropout, many views of results
 * that are made again; and names and growth that a model could not follow.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/given.h"
#include "tests/support/given_net.h"
#include "tests/support/trial.h"

#define LAYER(...) (&(braid_problem){__VA_ARGS__})
#define NORM LAYER(.op = BRAID_OP_BATCHNORM)
#define RELU LAYER(.op = BRAID_OP_ACT)
#define BATCH 4

static trial open_built(braid_net *net, const braid_plan_request *request) {
    return trial_open(&(trial_setup){.built = net, .request = *request});
}

/* ---- Masks ---------------------------------------------------------------------------------- */

/* A sample that is blanked in one stream still has the other one's part of the sum. */
static void a_sum_of_streams_has_two_masks(void **state) {
    static const unsigned char blanked[2][BATCH] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
    static const double expected[BATCH] = {1, 2, 6, 8};
    static const float values[BATCH] = {1, 2, 3, 4};
    int64_t count;
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value a = braid_net_input(net, "a", 1), b = braid_net_input(net, "b", 1);
    braid_value x = braid_net_layer(net, "na", a, NORM), z = braid_net_layer(net, "nb", b, NORM);
    braid_net_output(net, braid_net_layer(net, "relu", braid_net_add(net, x, z), RELU));
    trial t =
        open_built(net, &(braid_plan_request){.phase = BRAID_PHASE_EVAL, .batch = BATCH, .size = {1, 1}, .mask = 1});
    OK(braid_plan_set_input(t.plan, "a", values, sizeof values));
    OK(braid_plan_set_input(t.plan, "b", values, sizeof values));
    for (int i = 0; i < 2; i++) OK(braid_plan_set_mask(t.plan, i, blanked[i]));
    trial_run(t.plan, FORWARD);
    double *got = trial_output(t.plan, &count);
    assert_int_equal(count, BATCH);
    assert_true(trial_difference(got, expected, count) <= 1e-4);
    memory_free(got);
    trial_close(&t);
}

/* A bit for each sample says nothing of rows that are parts of one. */
static void a_mask_is_refused_where_samples_are_cut(void **state) {
    braid_context *context = NULL;
    braid_model *model = NULL;
    braid_plan *plan = NULL;
    (void)state;
    braid_net *net = given_net("ssae", NULL);
    OK(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context));
    OK(braid_model_create(context, net, NULL, &model));
    for (int64_t batch = 1; batch < 40; batch += 19) {
        assert_refused(braid_plan_create(model, &(braid_plan_request){.batch = batch, .mask = 1}, &plan),
                       BRAID_ERROR_ARGUMENT, "linear|one row for each of the|without mask");
    }
    braid_model_destroy(model);
    braid_context_destroy(context);
    braid_net_destroy(net);
}

/* ---- Values that are read twice ------------------------------------------------------------- */

/* The output stays, though a fused addition could do without it. */
static void an_output_may_be_a_residual(void **state) {
    int64_t count;
    int other = 0;
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_input(net, "x", 3);
    braid_value z = braid_net_layer(net, "nz", x, NORM), a = braid_net_layer(net, "na", x, NORM);
    braid_net_layer(net, "n", braid_net_layer(net, "relu", braid_net_add(net, a, z), RELU), NORM);
    braid_net_output(net, z);
    trial t = open_built(net, &(braid_plan_request){.batch = BATCH, .size = {1, 1}});
    trial_feed(&t, t.plan, 11, 0);
    trial_run(t.plan, FORWARD);
    double *got = trial_output(t.plan, &count);
    for (int64_t j = 0; j < count; j++) other += got[j] != 0;
    assert_true(other > 0);
    memory_free(got);
    trial_close(&t);
}

/* Views of results that are made again, at every number of tensors: arrays grow while they are read. */
static void views_of_what_is_made_again(void **state) {
    (void)state;
    for (int layers = 1; layers < 40; layers++) {
        braid_net *net = given_net(NULL, NULL);
        braid_value x = braid_net_input(net, "x", 4);
        for (int j = 0; j < layers; j++) {
            char name[2][16];
            snprintf(name[0], sizeof name[0], "conv%d", j);
            snprintf(name[1], sizeof name[1], "relu%d", j);
            x = braid_net_layer(net, name[0], x, LAYER(.op = BRAID_OP_CONV2D, .out_channels = {4}, .filter = {1, 1}));
            x = braid_net_layer(net, name[1], x, RELU);
        }
        x = braid_net_reshape(net, x, 4);
        braid_net_output(net, braid_net_layer(net, "fc", x, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {3})));
        trial t = open_built(net, &(braid_plan_request){.batch = 2, .size = {1, 1}});
        trial_feed(&t, t.plan, 11, 0);
        trial_run(t.plan, FORWARD | BACKWARD);
        trial_close(&t);
    }
}

/* ---- Two plans ------------------------------------------------------------------------------ */

static void dropout_belongs_to_one_plan_at_a_time(void **state) {
    const braid_plan_request request = {.batch = 2, .size = {1, 1}};
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_layer(net, "fc", braid_net_reshape(net, braid_net_input(net, "x", 4), 4),
                                    LAYER(.op = BRAID_OP_LINEAR, .out_channels = {4}));
    x = braid_net_layer(net, "drop", x, LAYER(.op = BRAID_OP_DROPOUT, .rate = 0.5));
    braid_net_output(net, x);
    trial t = open_built(net, &request);
    braid_plan *other = trial_plan(&t, &request);
    trial_run(t.plan, FORWARD);
    trial_run(other, FORWARD);
    assert_refused(braid_plan_run(t.plan, BACKWARD), BRAID_ERROR_ARGUMENT, "another plan|dropout");
    trial_run(other, BACKWARD);
    trial_run(t.plan, FORWARD);
    trial_run(t.plan, BACKWARD);
    braid_plan_destroy(other);
    trial_close(&t);
}

/* Two dropouts in a row, each of a half, keep a quarter. If they drew alike the second would drop nothing more. */
static void every_dropout_draws_for_itself(void **state) {
    enum { ROWS = 16, WIDTH = 256, ALL = ROWS * WIDTH };
    float ones[ALL];
    int64_t count, kept = 0;
    (void)state;
    for (int j = 0; j < ALL; j++) ones[j] = 1;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_reshape(net, braid_net_input(net, "x", WIDTH), WIDTH);
    x = braid_net_layer(net, "one", x, LAYER(.op = BRAID_OP_DROPOUT, .rate = 0.5));
    braid_net_output(net, braid_net_layer(net, "two", x, LAYER(.op = BRAID_OP_DROPOUT, .rate = 0.5)));
    trial t = open_built(net, &(braid_plan_request){.batch = ROWS, .size = {1, 1}});
    OK(braid_plan_set_input(t.plan, "x", ones, sizeof ones));
    trial_run(t.plan, FORWARD);
    double *got = trial_output(t.plan, &count);
    assert_int_equal(count, ALL);
    for (int64_t j = 0; j < count; j++) {
        assert_true(got[j] == 0 || got[j] == 4);
        kept += got[j] != 0;
    }
    assert_true(kept > ALL / 4 - 200 && kept < ALL / 4 + 200); /* seven deviations of 28 */
    memory_free(got);
    trial_close(&t);
}

/* ---- Explaining ------------------------------------------------------------------------------ */

static void every_step_can_be_asked_for(void **state) {
    braid_step_info info;
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_reshape(net, braid_net_input(net, "x", 4), 4);
    braid_net_output(net, braid_net_layer(net, "fc", x, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {3})));
    trial t = open_built(net, &(braid_plan_request){.batch = 2, .size = {1, 1}});
    const int count = braid_plan_step_count(t.plan);
    assert_true(count > 0);
    for (int j = 0; j < count; j++) OK(braid_plan_step(t.plan, j, &info));
    assert_refused(braid_plan_step(t.plan, -1, &info), BRAID_ERROR_ARGUMENT, "expected a step from 0 to|got -1");
    assert_refused(braid_plan_step(t.plan, count, &info), BRAID_ERROR_ARGUMENT, "expected a step from 0 to");
    trial_close(&t);
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* A plan beyond the machine's memory is refused before any kernel is tried, and names a batch that is not. */
static void too_large_a_batch_names_one_that_fits(void **state) {
    braid_plan_request request = {.batch = 1 << 20, .size = {224, 224}, .optimiser = BRAID_OPTIMISER_ADAMW};
    braid_plan *plan = NULL;
    long long fits = 0;
    (void)state;
    trial t = trial_open(&(trial_setup){
        .kind = "linet18", .net = {.width = 1.0 / 16}, .request = {.phase = BRAID_PHASE_EVAL, .size = {32, 32}}});
    assert_refused(braid_plan_create(t.model, &request, &plan), BRAID_ERROR_MEMORY, "needs|free are|fits");
    const char *advice = strstr(braid_message(), "; batch ");
    assert_true(advice && sscanf(advice, "; batch %lld fits", &fits) == 1);
    assert_true(fits >= 1 && fits < request.batch);
    trial_close(&t);
}

/* ---- What a model could not follow ---------------------------------------------------------- */

static void names_are_kept_free(void **state) {
    static const char *const reserved[] = {"output",  "labels",     "target", "loss",
                                           "correct", "loss_scale", "norm",   "class_weights"};
    (void)state;
    for (size_t j = 0; j < sizeof reserved / sizeof reserved[0]; j++) {
        braid_net *net = given_net(NULL, NULL);
        assert_int_equal(braid_net_input(net, reserved[j], 3).id, 0);
        assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, reserved[j]);
        braid_net_destroy(net);
    }
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_reshape(net, braid_net_input(net, "x", 3), 3);
    braid_net_layer(net, "braid.fc", x, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {2}));
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "begin with braid.|braid.fc");
    braid_net_destroy(net);
}

static void an_output_ends_the_building(void **state) {
    (void)state;
    braid_net *net = given_net(NULL, NULL);
    braid_value x = braid_net_reshape(net, braid_net_input(net, "x", 3), 3);
    braid_net_output(net, braid_net_layer(net, "fc", x, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {2})));
    OK(braid_net_check(net));
    int tensors = braid_net_tensor_count(net);
    assert_int_equal(braid_net_layer(net, "more", x, LAYER(.op = BRAID_OP_LINEAR, .out_channels = {2})).id, 0);
    assert_int_equal(braid_net_tensor_count(net), tensors);
    assert_refused(braid_net_check(net), BRAID_ERROR_ARGUMENT, "braid_net_layer|ends the building");
    braid_net_destroy(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_streams_has_two_masks),
        cmocka_unit_test(a_mask_is_refused_where_samples_are_cut),
        cmocka_unit_test(an_output_may_be_a_residual),
        cmocka_unit_test(views_of_what_is_made_again),
        cmocka_unit_test(dropout_belongs_to_one_plan_at_a_time),
        cmocka_unit_test(every_dropout_draws_for_itself),
        cmocka_unit_test(every_step_can_be_asked_for),
        cmocka_unit_test(too_large_a_batch_names_one_that_fits),
        cmocka_unit_test(names_are_kept_free),
        cmocka_unit_test(an_output_ends_the_building),
    };
    return cmocka_run_group_tests_name("plan/network_corners", tests, NULL, NULL);
}
