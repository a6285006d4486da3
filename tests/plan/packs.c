/*
 * Tests of weight packs as steps: every call whose kernel packs weights has a step for it just before, which is timed
 * by itself, and what a plan computes is what the kernels give when they are launched as a whole. A plan for evaluation
 * keeps its packs until the parameters change, whoever changes them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "tests/support/trial.h"

#define TINY .width = 0.0625
#define MOST_STEPS 600

static const trial_setup linet = {
    .kind = "linet18", .net = {.streams = 2, TINY}, .request = {.batch = 2, .size = {37, 45}}};

static trial open_with(const char *disable, braid_phase phase) {
    trial_setup s = linet;
    s.disable = disable;
    s.request.phase = phase;
    trial t = trial_open(&s);
    trial_shake(&t, 3, 1);
    trial_feed(&t, t.plan, 5, 0);
    return t;
}

/* How many packs a plan has. */
static int check_pairs(const braid_plan *plan) {
    int packs = 0, calls = 0;
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j], *next = s + 1;
        braid_step_info info;
        OK(braid_plan_step(plan, j, &info));
        assert_int_equal(info.is_pack, s->part == STEP_PACK);
        calls += !info.is_pack;
        if (s->part == STEP_LAUNCH) assert_null(s->op->kernel->functions->pack);
        if (!info.is_pack) continue;
        packs++;
        assert_true(j + 1 < plan->step_count && next->part == STEP_RUN && next->op == s->op);
        assert_ptr_equal(next->buffers.workspace, s->buffers.workspace);
        assert_true(next->segment == s->segment && next->depends_on > 0);
        assert_int_equal(info.natural, 0);
        assert_true(info.seconds == 0);
    }
    assert_true(calls >= plan->program.call_count);
    return packs;
}

static void packs_are_steps(void **state) {
    double seconds[MOST_STEPS];
    (void)state;
    for (int phase = 0; phase < BRAID_PHASE_COUNT; phase++) {
        trial t = open_with("onednn,openblas", (braid_phase)phase);
        assert_true(check_pairs(t.plan) >= 10);
        assert_true(t.plan->step_count <= MOST_STEPS);
        OK(braid_plan_profile(t.plan, FORWARD, 3, seconds));
        for (int j = 0; j < t.plan->step_count; j++)
            assert_true((seconds[j] > 0) == (t.plan->steps[j].segment == FORWARD));
        trial_close(&t);
    }
}

/* Launched as a whole, the kernels of the same plan give the same output. */
static void same_bits_as_launches(void **state) {
    int64_t count, again;
    (void)state;
    trial t = open_with("onednn,openblas", BRAID_PHASE_EVAL);
    trial_run(t.plan, FORWARD);
    double *by_steps = trial_output(t.plan, &count);
    for (int j = 0; j < t.plan->step_count; j++) {
        const step *s = &t.plan->steps[j];
        if (s->part == STEP_PACK) continue;
        if (s->op->workspace_bytes) memset(s->buffers.workspace, 0xFF, s->op->workspace_bytes);
        OK(kernel_launch(s->op->kernel->functions, &s->op->problem, t.context->device, s->op->state, &s->buffers));
    }
    double *by_launches = trial_output(t.plan, &again);
    assert_int_equal(count, again);
    assert_memory_equal(by_steps, by_launches, (size_t)count * sizeof *by_steps);
    memory_free(by_steps);
    memory_free(by_launches);
    trial_close(&t);
}

/* ---- Kept packs ----------------------------------------------------------------------------- */

static const step *kept_pack(const braid_plan *plan) {
    const step *found = NULL;
    for (int j = 0; j < plan->step_count; j++) {
        const step *s = &plan->steps[j];
        int is_kept = s->part == STEP_PACK && plan->program.options.phase == BRAID_PHASE_EVAL;
        assert_int_equal(s->is_kept, is_kept);
        if (is_kept) found = s;
    }
    return found;
}

/* What a plan that has run before gives is what a new plan of the model gives, twice, and not what it gave before. */
static void expect_new_results(const trial *t, double **before) {
    const braid_plan_request request = {.phase = BRAID_PHASE_EVAL, .batch = 2, .size = {37, 45}};
    int64_t count, again;
    braid_plan *fresh = trial_plan(t, &request);
    trial_feed(t, fresh, 5, 0);
    trial_run(fresh, FORWARD);
    double *expected = trial_output(fresh, &count);
    for (int round = 0; round < 2; round++) {
        trial_run(t->plan, FORWARD);
        double *got = trial_output(t->plan, &again);
        assert_int_equal(count, again);
        assert_memory_equal(got, expected, (size_t)count * sizeof *got);
        memory_free(got);
    }
    assert_memory_not_equal(*before, expected, (size_t)count * sizeof *expected);
    memory_free(*before);
    *before = expected;
    braid_plan_destroy(fresh);
}

static void check_changes(braid_dtype dtype) {
    const unsigned all = FORWARD | BACKWARD | UPDATE;
    double seconds[MOST_STEPS];
    char path[] = "/tmp/braid_packs_XXXXXX";
    int64_t count;
    trial_setup s = linet;
    s.dtype = dtype;
    s.disable = "onednn,openblas";
    s.request.phase = BRAID_PHASE_EVAL;
    trial t = trial_open(&s);
    braid_plan *training =
        trial_plan(&t, &(braid_plan_request){.batch = 2, .size = {37, 45}, .optimiser = BRAID_OPTIMISER_SGD});
    assert_null(kept_pack(training));
    assert_non_null(kept_pack(t.plan));
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    trial_shake(&t, 3, 1);
    trial_feed(&t, t.plan, 5, 0);
    trial_feed(&t, training, 6, 0);
    trial_set_rates(training, 0.1, 0);
    OK(braid_model_save(t.model, path));
    trial_run(t.plan, FORWARD);
    double *before = trial_output(t.plan, &count);
    trial_shake(&t, 4, 0);
    expect_new_results(&t, &before);
    trial_run(training, all);
    expect_new_results(&t, &before);
    OK(braid_plan_profile(training, all, 1, seconds));
    expect_new_results(&t, &before);
    OK(braid_model_load(t.model, path));
    expect_new_results(&t, &before);
    memory_free(before);
    assert_int_equal(remove(path), 0);
    braid_plan_destroy(training);
    trial_close(&t);
}

static void results_follow_the_parameters(void **state) {
    (void)state;
    check_changes(BRAID_DTYPE_F32);
    check_changes(BRAID_DTYPE_BF16);
}

/* Weights that nobody says have changed are not looked at. */
static void unchanged_parameters_are_packed_once(void **state) {
    int64_t count, again;
    (void)state;
    trial t = open_with("onednn,openblas", BRAID_PHASE_EVAL);
    trial_run(t.plan, FORWARD);
    double *before = trial_output(t.plan, &count);
    const step *pack = kept_pack(t.plan);
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        if (step_touches(pack, STEP_PACK, slot) && pack->buffers.plane[slot][0])
            *(float *)pack->buffers.plane[slot][0] += 1;
    }
    trial_run(t.plan, FORWARD);
    double *after = trial_output(t.plan, &again);
    assert_memory_equal(before, after, (size_t)count * sizeof *before);
    memory_free(after);
    t.model->changes++;
    trial_run(t.plan, FORWARD);
    after = trial_output(t.plan, &again);
    assert_memory_not_equal(before, after, (size_t)count * sizeof *before);
    memory_free(before);
    memory_free(after);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(packs_are_steps), cmocka_unit_test(same_bits_as_launches),
                                       cmocka_unit_test(results_follow_the_parameters),
                                       cmocka_unit_test(unchanged_parameters_are_packed_once)};
    return cmocka_run_group_tests_name("plan/packs", tests, NULL, NULL);
}
