/*
 * Kernels that a model takes again: of its problem, else of the nearest batch; one that is not of the problem's op, or
 * cannot do it here, is never taken.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "race/choices.h"
#include "plan/pins.h"

#define PROBLEM "linear_fwd:f32:b8:c6:k12"
#define OTHER_PROBLEM "linear_fwd:f32:b8:c6:k13"

typedef struct rig {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_problem problem;
    const kernel *good, *other, *unable;
    json_t *pins;
    int missing;
} rig;

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static int begin(void **state) {
    static rig r;
    const braid_net_options rows = {.layers = {6, 12, 3}};
    r = (rig){.pins = json_object()};
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &r.context));
    ok(braid_net_create("mlp", &rows, &r.net));
    ok(braid_model_create(r.context, r.net, NULL, &r.model));
    ok(braid_problem_parse(PROBLEM, &r.problem));
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (!kernel_runs_on(k, r.context->device)) continue;
        int same = k->op == r.problem.op && k->pass == r.problem.pass;
        int refuses = kernel_refuses(k, &r.problem, r.context->device) != NULL;
        if (same && !refuses) r.good = k;
        if (same && refuses) r.unable = k;
        if (k->op != r.problem.op) r.other = k;
    }
    assert_non_null(r.good);
    assert_non_null(r.other);
    *state = &r;
    return 0;
}

static int end(void **state) {
    rig *r = *state;
    json_decref(r->pins);
    braid_model_destroy(r->model);
    braid_net_destroy(r->net);
    braid_context_destroy(r->context);
    return 0;
}

static void pin(rig *r, const char *problem, const char *name) {
    char text[BRAID_PROBLEM_TEXT];
    braid_problem p;
    ok(braid_problem_parse(problem, &p));
    ok(braid_problem_print(&p, text, sizeof text));
    assert_int_equal(json_object_set_new(r->pins, text, json_string(name)), 0);
    ok(model_pin_choices(r->model, r->pins, &r->missing));
}

/* Nothing is known beside what was pinned: there is no folder of wisdom. */
static void only_able_kernels_are_remembered(void **state) {
    rig *r = *state;
    pin(r, PROBLEM, r->good->name);
    assert_ptr_equal(choices_find(r->context, &r->problem), r->good);
    assert_int_equal(r->missing, 0);
}

static void others_are_not(void **state) {
    rig *r = *state;
    pin(r, PROBLEM, r->other->name);
    assert_null(choices_find(r->context, &r->problem));
    assert_int_equal(r->missing, 1);
    pin(r, PROBLEM, "no_such_kernel");
    assert_null(choices_find(r->context, &r->problem));
    pin(r, OTHER_PROBLEM, "no_such_kernel");
    assert_int_equal(r->missing, 2);
    if (!r->unable) return;
    pin(r, PROBLEM, r->unable->name);
    assert_null(choices_find(r->context, &r->problem));
    assert_int_equal(r->missing, 2);
}

/* A plan goes on with a kernel of its own choice. */
static void a_pin_that_cannot_be_taken_is_no_failure(void **state) {
    rig *r = *state;
    braid_op *op;
    const braid_plan_options at_once = {.effort = BRAID_EFFORT_ESTIMATE};
    pin(r, PROBLEM, r->other->name);
    ok(braid_op_create(r->context, &r->problem, &op));
    ok(choose_pinned(r->model, op, &at_once));
    assert_int_equal(op->kernel->op, r->problem.op);
    pin(r, PROBLEM, r->good->name);
    ok(choose_pinned(r->model, op, &at_once));
    assert_ptr_equal(op->kernel, r->good);
    braid_op_destroy(op);
}

static const char *taken_for(const rig *r, const char *problem) {
    braid_problem p;
    ok(braid_problem_parse(problem, &p));
    return model_choice(r->model, &p);
}

static void the_nearest_batch_is_taken(void **state) {
    rig *r = *state;
    pin(r, "linear_fwd:f32:b8:c6:k12", "eight");
    pin(r, "linear_fwd:f32:b16:c6:k12", "sixteen");
    pin(r, "linear_fwd:f32:b128:c6:k12", "many");
    assert_string_equal(taken_for(r, "linear_fwd:f32:b16:c6:k12"), "sixteen");
    assert_string_equal(taken_for(r, "linear_fwd:f32:b1:c6:k12"), "eight");
    assert_string_equal(taken_for(r, "linear_fwd:f32:b12:c6:k12"), "eight"); /* of two as near, the smaller one */
    assert_string_equal(taken_for(r, "linear_fwd:f32:b13:c6:k12"), "sixteen");
    assert_string_equal(taken_for(r, "linear_fwd:f32:b100:c6:k12"), "many");
    assert_null(taken_for(r, "linear_fwd:f32:b8:c6:k13"));
    assert_null(taken_for(r, "linear_fwd:bf16:b8:c6:k12"));
    assert_null(taken_for(r, "linear_bwd_data:f32:b8:c6:k12"));
}

#define WITH_A_MODEL(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_A_MODEL(only_able_kernels_are_remembered),
        WITH_A_MODEL(others_are_not),
        WITH_A_MODEL(a_pin_that_cannot_be_taken_is_no_failure),
        WITH_A_MODEL(the_nearest_batch_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
