/*
 * Tests of the chain of a fused op and of the choices that it is made of: that its steps are problems, which kernels
 * they get, what it costs, how much workspace it has, and what a context remembers. That a chain computes the right
 * values is tested with every fused op.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"
#include "backend/cpu/cpu.h"
#include "tests/support/unit.h"

#include "race/choices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/ref/ref.h"
#include "race/wisdom.h"
#include "tests/support/fake_race.h"
#include "tests/support/given.h"
#include "tests/support/rig.h"

#define STEP_WORKSPACE 1000000
#define LAYER "n2:b9:c200,31:k70,5:bias1"

static const kernel *find(braid_op_id op, braid_pass pass, kernel_backend where) {
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op == op && k->pass == pass && k->backend == where) return k;
    }
    fail_msg("no such kernel");
    return NULL;
}

static device *open_cpu(void) {
    device *d = NULL;
    assert_int_equal(backend_open("cpu", &d), BRAID_OK);
    return d;
}

static void close_cpu(device *d) {
    d->backend->close(d);
    assert_int_equal(memory_live(), 0);
}

/* ---- Problems of the steps ------------------------------------------------------------------- */

#define DRAWS 60 /* of each op and pass */

/* Every step is a problem that can be planned, written and read. Returns 1 where there is a chain. */
static int steps_of(const braid_problem *p) {
    op_chain c = {0};
    char text[BRAID_PROBLEM_TEXT];
    if (!op_of(p)->chain || op_of(p)->chain(p, &c)) return 0;
    for (int j = 0; j < c.count; j++) {
        braid_problem step = c.steps[j].problem, again;
        if (braid_problem_check(&step) != BRAID_OK) fail_msg("step %d: %s", j, braid_message());
        assert_int_equal(braid_problem_print(&step, text, sizeof text), BRAID_OK);
        if (braid_problem_parse(text, &again) != BRAID_OK) fail_msg("%s: %s", text, braid_message());
    }
    return 1;
}

static void steps_are_problems(void **state) {
    int chains = 0;
    (void)state;
    for (int id = 0; id < BRAID_OP_COUNT; id++) {
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            for (uint64_t seed = 0; seed < DRAWS && braid_pass_name((braid_op_id)id, (braid_pass)pass); seed++) {
                braid_problem p;
                assert_int_equal(braid_problem_draw((braid_op_id)id, (braid_pass)pass, seed, &p), BRAID_OK);
                chains += steps_of(&p);
            }
        }
    }
    assert_true(chains > 10 * DRAWS);
}

/* ---- Kernels of the steps ------------------------------------------------------------------ */

/* A chooser that knows one kernel, for linear: the reference, which counts and asks for workspace. */
static int asked, launched;

static braid_status counted_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)p;
    (void)d;
    *state = NULL;
    *workspace_bytes = STEP_WORKSPACE;
    return BRAID_OK;
}

static braid_status counted_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    launched++;
    memset(b->workspace, 0, STEP_WORKSPACE);
    return ref_functions.launch(p, d, state, b);
}

static const kernel_functions counted_functions = {.create = counted_create, .launch = counted_launch};
static const kernel counted = {.name = "counted", .op = BRAID_OP_LINEAR, .functions = &counted_functions};

static const kernel *choose_counted(void *context, const braid_problem *p) {
    (void)context;
    asked++;
    return p->op == BRAID_OP_LINEAR ? &counted : NULL;
}

static void steps_run_the_kernels_that_were_chosen(void **state) {
    static const chooser chosen = {choose_counted, NULL, NULL};
    const braid_problem p = given_problem("linear_act_fwd:" LAYER);
    device *d = open_cpu();
    rig r = {0};
    (void)state;
    d->chooser = &chosen;
    asked = launched = 0;
    assert_int_equal(rig_create(&r, &p, d, find(BRAID_OP_LINEAR_ACT, BRAID_PASS_FWD, KERNEL_CHAIN), IMAGE_REAL, 3),
                     BRAID_OK);
    assert_int_equal(asked, 2); /* linear and act */
    assert_true(r.workspace_bytes >= STEP_WORKSPACE);
    assert_int_equal(rig_run(&r), BRAID_OK);
    assert_int_equal(launched, 1);
    rig_destroy(&r);
    d->chooser = NULL;
    close_cpu(d);
}

/* Results between the steps lie as buffers of their own would: the workspace is made of aligned places. */
static void temporary_results_are_aligned(void **state) {
    static const struct {
        const char *problem;
        braid_op_id op;
    } rows[] = {{"conv2d_scale_bias_act:n2:b1:hw3x3:c3,2:k5,3:rs1x1:act=relu", BRAID_OP_CONV2D_SCALE_BIAS_ACT},
                {"bn_act_pool_fwd:n1:b1:hw3x5:c7:rs3x3:st2:pad1", BRAID_OP_BN_ACT_POOL}};
    device *d = open_cpu();
    (void)state;
    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
        const braid_problem p = given_problem(rows[j].problem);
        void *chain_state = NULL;
        size_t bytes = 0;
        const kernel *chain = find(rows[j].op, BRAID_PASS_FWD, KERNEL_CHAIN);
        assert_int_equal(chain->functions->create(&p, d, &chain_state, &bytes), BRAID_OK);
        chain->functions->destroy(d, chain_state);
        assert_true(bytes >= MEMORY_DEVICE_ALIGNMENT);
        assert_int_equal(bytes % MEMORY_DEVICE_ALIGNMENT, 0);
    }
    close_cpu(d);
}

/* By the cost model, of those that give the same bits at any number of threads. */
static const kernel *cheapest(const braid_problem *p, const device *d) {
    const kernel *best = NULL;
    const machine one_thread = {.threads = 1}; /* as a chain asks for costs */
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (kernel_refuses(k, p, d) || k->flags & KERNEL_VARIES_WITH_THREADS) continue;
        if (!best || k->functions->cost(p, &one_thread) < best->functions->cost(p, &one_thread)) best = k;
    }
    assert_non_null(best);
    return best;
}

/* The raw output of a chain has the bits of the cheapest kernel of its first step. */
static void check_first_step(device *d, const char *layer) {
    char text[BRAID_PROBLEM_TEXT];
    rig whole = {0}, step = {0};
    snprintf(text, sizeof text, "linear_act_fwd:%s:act=gelu:phase=train", layer);
    const braid_problem p = given_problem(text);
    snprintf(text, sizeof text, "linear_fwd:%s", layer);
    const braid_problem first = given_problem(text);
    assert_int_equal(rig_create(&whole, &p, d, find(BRAID_OP_LINEAR_ACT, BRAID_PASS_FWD, KERNEL_CHAIN), IMAGE_REAL, 3),
                     BRAID_OK);
    assert_int_equal(rig_create(&step, &first, d, cheapest(&first, d), IMAGE_REAL, 3), BRAID_OK);
    for (int slot = LINEAR_X; slot <= LINEAR_BIAS; slot++) {
        for (int i = 0; i < p.streams; i++) {
            for (int64_t j = 0; j < rig_elements(&step, slot, i); j++)
                rig_set(&step, slot, i, j, rig_get(&whole, slot, i, j));
        }
    }
    assert_int_equal(rig_run(&whole), BRAID_OK);
    assert_int_equal(rig_run(&step), BRAID_OK);
    for (int i = 0; i < p.streams; i++) {
        for (int64_t j = 0; j < rig_elements(&step, LINEAR_Y, i); j++)
            assert_true(rig_get(&whole, LINEAR_ACT_U, i, j) == rig_get(&step, LINEAR_Y, i, j));
    }
    rig_destroy(&whole);
    rig_destroy(&step);
}

static void unknown_steps_get_the_cheapest_kernel(void **state) {
    device *d = open_cpu();
    (void)state;
    check_first_step(d, LAYER);
    check_first_step(d, "n1:b130:c300:k90:bias1");
    check_first_step(d, "n1:b1:c64:k1000:bias1");
    close_cpu(d);
}

static const machine two_threads = {.threads = 2};

static double lowest_cost(const char *text) {
    const braid_problem p = given_problem(text);
    double best = INFINITY;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        int ours = !k->vendor && k->backend != KERNEL_CUDA && !(k->features & ~cpu_features());
        if (ours && k->op == p.op && k->pass == p.pass && (k->dtypes & (1u << p.dtype)))
            best = fmin(best, k->functions->cost(&p, &two_threads));
    }
    return best;
}

static void a_chain_costs_what_its_steps_cost(void **state) {
    const braid_problem p = given_problem("linear_act_fwd:b64:c300:k200:bias1:act=gelu:phase=train");
    double steps = lowest_cost("linear_fwd:b64:c300:k200:bias1") + lowest_cost("act_fwd:b64:hw1x1:c200:act=gelu");
    double cost = find(BRAID_OP_LINEAR_ACT, BRAID_PASS_FWD, KERNEL_CHAIN)->functions->cost(&p, &two_threads);
    (void)state;
    assert_true(cost > 0.9 * steps && cost < 1.1 * steps);
}

/* A convolution with a stride has no Winograd kernel, and 5x5 filters have none: a chain does not count with one. */
static void kernels_that_refuse_cost_nothing_less(void **state) {
    device *d = open_cpu();
    const braid_problem p = given_problem("conv2d_scale_bias_act:b4:hw14x14:c256:k512:rs3x3:st2:pad1:act=relu");
    const braid_problem conv = given_problem("conv2d_fwd:b4:hw14x14:c256:k512:rs3x3:st2:pad1");
    const machine on = {d, 2};
    double best = INFINITY;
    (void)state;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (!k->vendor && !kernel_refuses(k, &conv, d)) best = fmin(best, k->functions->cost(&conv, &on));
    }
    assert_true(best < INFINITY && chain_functions.cost(&p, &on) >= best);
    close_cpu(d);
}

/* ---- Choices ------------------------------------------------------------------------------- */

static braid_problem numbered(int number) {
    char text[64];
    snprintf(text, sizeof text, "linear_fwd:b%d:c3:k4", number + 1);
    return given_problem(text);
}

static void what_was_chosen_last_is_remembered(void **state) {
    braid_context *context = given_context("", NULL);
    const braid_problem p = numbered(0), q = numbered(1);
    const kernel *first = find(BRAID_OP_LINEAR, BRAID_PASS_FWD, KERNEL_REF);
    const kernel *second = find(BRAID_OP_LINEAR, BRAID_PASS_FWD, KERNEL_CPU);
    (void)state;
    assert_null(choices_find(context, &p));
    choices_remember(context, &p, first);
    assert_ptr_equal(choices_find(context, &p), first);
    assert_null(choices_find(context, &q));
    choices_remember(context, &p, second);
    assert_ptr_equal(choices_find(context, &p), second);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

static void the_oldest_choice_is_forgotten(void **state) {
    braid_context *context = given_context("", NULL);
    const kernel *k = find(BRAID_OP_LINEAR, BRAID_PASS_FWD, KERNEL_REF);
    (void)state;
    for (int j = 0; j <= CONTEXT_CHOICES; j++) {
        const braid_problem p = numbered(j);
        choices_remember(context, &p, k);
    }
    for (int j = 0; j <= CONTEXT_CHOICES; j++) {
        const braid_problem p = numbered(j);
        assert_ptr_equal(choices_find(context, &p), j == 0 ? NULL : k);
    }
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

static void choices_come_from_wisdom(void **state) {
    char folder[256];
    race r;
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    braid_context *context = given_context(folder, NULL);
    const braid_problem p = numbered(5), q = numbered(6);
    fake_race(context, &p, 1e-3, 1, &r);
    wisdom_store(context, &p, &r);
    race_decide(&p, &r);
    assert_ptr_equal(choices_find(context, &p), r.racers[r.winner].kernel);
    assert_null(choices_find(context, &q));
    braid_context_destroy(context);
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
}

/* All kernels of act, for --disable. */
static const char *no_act(void) {
    static char list[2048];
    list[0] = 0;
    for (int j = 0; j < kernel_count(); j++) {
        if (kernel_at(j)->op != BRAID_OP_ACT) continue;
        strncat(list, kernel_at(j)->name, sizeof list - strlen(list) - 2);
        strcat(list, ",");
    }
    return list;
}

/* A step without a kernel takes the chain out of the race; the fused kernels do not mind. */
static void a_chain_without_a_step_takes_no_part(void **state) {
    braid_context *context = given_context("", no_act());
    braid_op *op = given_op(context, "linear_act_fwd:b4:c8:k8");
    const braid_effort efforts[] = {BRAID_EFFORT_MEASURE, BRAID_EFFORT_ESTIMATE};
    (void)state;
    for (int e = 0; e < 2; e++) {
        assert_int_equal(braid_op_plan(op, &(braid_plan_options){.effort = efforts[e], .seconds = 0.05}), BRAID_OK);
        const braid_race *seen = braid_op_explain(op);
        for (int j = 0; j < seen->count; j++) {
            if (seen->candidates[j].kind != BRAID_KIND_CHAIN) continue;
            assert_non_null(seen->candidates[j].reason);
            assert_non_null(strstr(seen->candidates[j].reason, "act"));
        }
        assert_int_not_equal(seen->candidates[seen->winner].kind, BRAID_KIND_CHAIN);
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
}

/* At the level of the same bits at any number of threads nothing measured decides. */
static void measured_choices_do_not_count_for_the_same_bits(void **state) {
    braid_context *context = NULL;
    (void)state;
    assert_int_equal(
        braid_context_create(
            &(braid_context_options){.device = "cpu", .threads = 1, .repro = BRAID_REPRO_THREADS, .cache_dir = ""},
            &context),
        BRAID_OK);
    const braid_problem p = given_problem("linear_fwd:b4:c8:k8");
    choices_remember(context, &p, find(BRAID_OP_LINEAR, BRAID_PASS_FWD, KERNEL_REF));
    assert_null(choices_find(context, &p));
    braid_context_destroy(context);
}

static void a_plan_chooses_for_the_steps(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "linear_act_fwd:b3:c5:k7:bias1");
    const braid_problem step = given_problem("linear_fwd:b3:c5:k7:bias1");
    (void)state;
    assert_null(choices_find(context, &step));
    if (braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}) != BRAID_OK) fail_msg("%s", braid_message());
    assert_non_null(choices_find(context, &step));
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_problems),
        cmocka_unit_test(steps_run_the_kernels_that_were_chosen),
        cmocka_unit_test(temporary_results_are_aligned),
        cmocka_unit_test(unknown_steps_get_the_cheapest_kernel),
        cmocka_unit_test(a_chain_costs_what_its_steps_cost),
        cmocka_unit_test(kernels_that_refuse_cost_nothing_less),
        cmocka_unit_test(a_chain_without_a_step_takes_no_part),
        cmocka_unit_test(measured_choices_do_not_count_for_the_same_bits),
        cmocka_unit_test(what_was_chosen_last_is_remembered),
        cmocka_unit_test(the_oldest_choice_is_forgotten),
        cmocka_unit_test(choices_come_from_wisdom),
        cmocka_unit_test(a_plan_chooses_for_the_steps),
    };
    return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
