/*
 * Tests of weight packs as steps: every call whose kernel packs weights has a step for it just before, which is timed
 * by itself, and what a plan computes is what the kernels give when they are launched as a whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(packs_are_steps), cmocka_unit_test(same_bits_as_launches)};
    return cmocka_run_group_tests_name("plan/packs", tests, NULL, NULL);
}
