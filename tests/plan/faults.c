/*
 * Tests of want: every allocation and every file call of a context, an op, a plan, a check and of wisdom
 * fails in turn, once or from then on. What comes is a clear error or the documented way round; nothing
 * leaks, what was alive stays usable, and wisdom is old or new, never a mix.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "race/context.h"
#include "race/wisdom.h"
#include "tests/support/fail_nth.h"
#include "tests/support/fake_race.h"
#include "tests/support/given.h"

#define HALF "linear_fwd:f16:n2:b2:c3,4:k4,2:bias1" /* only the reference does it, with a workspace */
#define FLOAT "conv2d_fwd:b1:hw4:c3:k4:rs3:pad1"
#define MOST_CALLS 400 /* more allocations or file calls than any piece of work below makes */

static char folder[256];
static char only_own[2048]; /* leaves one kernel of ours for FLOAT, and the reference */

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    fail_alloc_install();
    fail_files_install();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fail_files_remove();
    fail_alloc_remove();
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
    return 0;
}

/* Names every kernel of FLOAT but one of ours and the reference, for `disable`: a quick race that still has one. */
static void write_only_own(void) {
    char candidate[64] = "";
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != BRAID_OP_CONV2D || k->pass != BRAID_PASS_FWD || k->backend != KERNEL_CPU) continue;
        if (!k->vendor && k->features == 0 && !candidate[0]) {
            snprintf(candidate, sizeof candidate, "%s", k->name);
            continue;
        }
        size_t used = strlen(only_own);
        snprintf(only_own + used, sizeof only_own - used, "%s%s", used ? "," : "", k->name);
    }
}

static void assert_ok(braid_status status) {
    if (status != BRAID_OK) fail_msg("%s: %s", braid_status_name(status), braid_message());
}

/* ---- Allocations -------------------------------------------------------------------------- */

/* Fails every allocation of the work in turn, in both modes. `refused_too` is a further status that may come. */
static void starve(braid_status (*work)(void), braid_status refused_too) {
    const int64_t live = memory_live();
    for (fail_mode mode = FAIL_ONCE; mode <= FAIL_PERSISTENT; mode++) {
        int64_t nth = 0, failures;
        do {
            assert_true(++nth < MOST_CALLS);
            fail_alloc_arm(nth, mode);
            braid_status status = work();
            failures = fail_alloc_disarm();
            if (memory_live() != live) fail_msg("allocation %lld failed, and something leaked", (long long)nth);
            if (status == BRAID_OK) continue;
            if (!failures || (status != BRAID_ERROR_MEMORY && status != refused_too)) {
                fail_msg("allocation %lld: %s", (long long)nth, braid_message());
            }
            assert_non_null(strstr(braid_message(), "no memory"));
        } while (failures);
        assert_true(nth > 1); /* or nothing was allocated, and nothing tested */
    }
}

static braid_context *context;
static braid_op *op;

static braid_status make_context(void) {
    braid_context *made = NULL;
    braid_status status =
        braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .cache_dir = folder}, &made);
    assert_int_equal(status == BRAID_OK, made != NULL);
    braid_context_destroy(made);
    return status;
}

static void creating_a_context(void **state) {
    (void)state;
    starve(make_context, BRAID_OK);
}

static braid_status make_op(void) {
    const braid_problem problem = given_problem(HALF);
    braid_op *made = NULL;
    braid_status status = braid_op_create(context, &problem, &made);
    assert_int_equal(status == BRAID_OK, made != NULL);
    braid_op_destroy(made);
    return status;
}

static braid_status make_memory(void) {
    void *memory = NULL;
    braid_status status = braid_memory_create(context, 100, &memory);
    assert_int_equal(status == BRAID_OK, memory != NULL);
    braid_memory_destroy(context, memory);
    return status;
}

static void creating_ops_and_memory(void **state) {
    (void)state;
    context = given_context(folder, NULL);
    starve(make_op, BRAID_OK);
    starve(make_memory, BRAID_OK);
    braid_context_destroy(context);
}

static braid_status plan_estimate(void) {
    return braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE});
}

static braid_status plan_measure(void) { return braid_op_plan(op, &(braid_plan_options){.seconds = 1e-4, .again = 1}); }

/* A plan leaves a state and a workspace, so each round begins and ends with an op that has none. */
static braid_status (*planning)(void);
static const char *planned_problem;

static braid_status plan_and_forget(void) {
    const braid_problem problem = given_problem(planned_problem);
    braid_op *fresh = NULL;
    braid_status status = braid_op_create(context, &problem, &fresh);
    if (status != BRAID_OK) return status;
    op = fresh;
    status = planning();
    if (status != BRAID_OK) { /* the op is still good */
        char message[1024];
        snprintf(message, sizeof message, "%s", braid_message());
        assert_refused(braid_op_run(op, NULL, 0), BRAID_ERROR_ARGUMENT, "planned");
        assert_int_equal(fail(status, "%s", message), status);
    }
    braid_op_destroy(op);
    return status;
}

static void starve_plan(const char *problem, const char *disable, braid_status (*how)(void)) {
    context = given_context(folder, disable);
    planned_problem = problem;
    planning = how;
    starve(plan_and_forget, BRAID_ERROR_ARGUMENT); /* argument: every candidate was left without memory, one by one */
    assert_ok(plan_and_forget());
    braid_context_destroy(context);
}

static void planning_by_estimate(void **state) {
    (void)state;
    starve_plan(HALF, NULL, plan_estimate);
    starve_plan(FLOAT, only_own, plan_estimate);
}

static void planning_by_measure(void **state) {
    (void)state;
    starve_plan(HALF, NULL, plan_measure);
    starve_plan(FLOAT, only_own, plan_measure);
}

static braid_status check_op(void) { return braid_op_check(op, 3); }

static void checking(void **state) {
    (void)state;
    context = given_context(folder, only_own);
    op = given_op(context, FLOAT);
    starve(check_op, BRAID_ERROR_CHECK);
    assert_ok(check_op());
    braid_op_destroy(op);
    braid_context_destroy(context);
}

/* Runs, texts and draws do not allocate at all. */
static void running_and_reading_need_no_memory(void **state) {
    const char *const problems[] = {HALF, FLOAT, "bn_finalize:b2:hw2:c3", "linear_bwd_weight:b2:c3:k4:bias1"};
    (void)state;
    context = given_context(folder, "onednn,openblas");
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        char text[BRAID_PROBLEM_TEXT];
        braid_problem drawn;
        op = given_op(context, problems[j]);
        given_memory memory = given_operands(context, op);
        assert_ok(plan_estimate());
        fail_alloc_arm(1, FAIL_PERSISTENT);
        braid_status status = braid_op_run(op, memory.operands, memory.count);
        if (!status) status = braid_problem_print(braid_op_problem(op), text, sizeof text);
        if (!status) status = braid_problem_parse(text, &drawn);
        if (!status) status = braid_problem_draw(drawn.op, drawn.pass, j, &drawn);
        assert_int_equal(fail_alloc_disarm(), 0);
        assert_ok(status);
        given_operands_destroy(&memory);
        braid_op_destroy(op);
    }
    braid_context_destroy(context);
}

/* ---- Wisdom without memory ------------------------------------------------------------------ */

static braid_problem problem;
static race old_race, new_race;

static void store_old(void) {
    problem = given_problem(HALF);
    fake_race(context, &problem, 1e-3, 111, &old_race);
    fake_race(context, &problem, 2e-3, 222, &new_race);
    wisdom_store(context, &problem, &old_race);
}

/* What the folder holds now: 1 old, 2 new, 0 nothing. */
static int holds(void) {
    race read;
    race_list(context, &problem, &read);
    if (!wisdom_recall(context, &problem, &read)) return 0;
    if (fake_race_equal(&read, &old_race)) return 1;
    return fake_race_equal(&read, &new_race) ? 2 : 3;
}

static braid_status store_new(void) {
    wisdom_store(context, &problem, &new_race);
    return BRAID_OK;
}

/* Recalls under faults: nothing, or what is there. */
static braid_status recall_any(void) {
    race read;
    race_list(context, &problem, &read);
    int known = holds(), near = wisdom_recall_nearest(context, &problem, &read);
    assert_in_range(known, 0, 2);
    assert_true(!near || fake_race_equal(&read, &old_race) || fake_race_equal(&read, &new_race));
    memory_free(context->listing.names); /* the context would keep them: the next recall lists the folder anew */
    context->listing = (wisdom_listing){0};
    return BRAID_OK;
}

static void wisdom_without_memory(void **state) {
    (void)state;
    context = given_context(folder, NULL);
    store_old();
    for (fail_mode mode = FAIL_ONCE; mode <= FAIL_PERSISTENT; mode++) {
        int64_t nth = 0, failures;
        do {
            fail_alloc_arm(++nth, mode);
            store_new();
            failures = fail_alloc_disarm();
            assert_int_equal(holds(), failures ? 1 : 2);
        } while (failures);
        wisdom_store(context, &problem, &old_race);
    }
    starve(recall_any, BRAID_OK);
    assert_int_equal(given_entries(folder, ""), 1);
    braid_context_destroy(context);
}

/* jansson has an allocator of its own. Only writing is starved: its reader ends the process on some failures. */
static int64_t json_calls, json_nth, json_failures, json_live;

static void *json_alloc(size_t bytes) {
    if (json_nth > 0 && ++json_calls >= json_nth) {
        json_failures++;
        return NULL;
    }
    json_live++;
    return malloc(bytes);
}

static void json_free(void *memory) {
    json_live -= memory != NULL;
    free(memory);
}

static int64_t starve_json(int64_t nth, braid_status (*work)(void)) {
    json_calls = json_failures = 0;
    json_nth = nth;
    assert_ok(work());
    json_nth = 0;
    return json_failures;
}

static void wisdom_without_memory_for_json(void **state) {
    (void)state;
    context = given_context(folder, NULL);
    json_set_alloc_funcs(json_alloc, json_free);
    store_old();
    const int64_t live = memory_live(), json_before = json_live;
    for (int64_t nth = 1; starve_json(nth, store_new); nth++) {
        assert_int_equal(holds(), 1);
        assert_int_equal(memory_live(), live);
        assert_int_equal(json_live, json_before);
    }
    assert_int_equal(holds(), 2);
    json_set_alloc_funcs(malloc, free);
    braid_context_destroy(context);
}

/* ---- File calls --------------------------------------------------------------------------- */

static const int errors[] = {ENOSPC, EIO, EINTR, EROFS, FAIL_SHORT};
#define ERRORS ((int)(sizeof errors / sizeof errors[0]))

/* Fails every file call of the work in turn, in every way, and looks at the folder each time. */
static void break_disk(unsigned calls, braid_status (*work)(void), void (*look)(int64_t failures)) {
    const int64_t live = memory_live();
    for (int kind = 0; kind < ERRORS * 2; kind++) {
        int64_t nth = 0, failures;
        do {
            assert_true(++nth < MOST_CALLS);
            fail_files_arm(calls, nth, kind % 2 ? FAIL_PERSISTENT : FAIL_ONCE, errors[kind / 2]);
            braid_status status = work();
            failures = fail_files_disarm();
            assert_ok(status);
            assert_int_equal(memory_live(), live);
            look(failures);
        } while (failures);
    }
}

static void old_or_new_and_no_temporary(int64_t failures) {
    int now = holds();
    assert_true(now == 1 || now == 2);
    if (!failures) assert_int_equal(now, 2);
    assert_int_equal(given_entries(folder, ""), 1);
    wisdom_store(context, &problem, &old_race);
    assert_int_equal(holds(), 1);
}

/* Where even the removal fails a temporary may stay; it is not taken for an entry. */
static void old_or_new(int64_t failures) {
    int now = holds();
    (void)failures;
    assert_true(now == 1 || now == 2);
    assert_int_equal(given_entries(folder, ".wisdom"), 1);
    wisdom_store(context, &problem, &old_race);
    assert_int_equal(holds(), 1);
}

static void nothing_changed(int64_t failures) {
    (void)failures;
    assert_int_equal(holds(), 1);
    assert_int_equal(given_entries(folder, ".wisdom"), 1);
}

static void wisdom_on_a_broken_disk(void **state) {
    (void)state;
    context = given_context(folder, NULL);
    store_old();
    break_disk(FAIL_ANY_FILE_CALL & ~FAIL_UNLINK, store_new, old_or_new_and_no_temporary);
    break_disk(FAIL_ANY_FILE_CALL, recall_any, nothing_changed);
    break_disk(FAIL_ANY_FILE_CALL, store_new, old_or_new);
    braid_context_destroy(context);
}

/* A plan with its context and folder made anew: no fault of the disk keeps anybody from planning. */
static braid_status plan_anew(void) {
    braid_context *made = given_context(folder, NULL);
    braid_op *fresh = given_op(made, HALF);
    braid_status status = braid_op_plan(fresh, &(braid_plan_options){.seconds = 1e-4, .again = 1});
    braid_op_destroy(fresh);
    braid_context_destroy(made);
    return status;
}

static void do_not_look(int64_t failures) { (void)failures; }

static void planning_on_a_broken_disk(void **state) {
    (void)state;
    assert_ok(plan_anew());
    break_disk(FAIL_WRITE | FAIL_FSYNC | FAIL_RENAME | FAIL_MKDIR, plan_anew, do_not_look);
    for (int kind = 0; kind < ERRORS; kind++) {
        fail_files_arm(FAIL_ANY_FILE_CALL, 1, FAIL_PERSISTENT, errors[kind]);
        assert_ok(plan_anew());
        fail_files_disarm();
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(creating_a_context),
        CASE(creating_ops_and_memory),
        CASE(planning_by_estimate),
        CASE(planning_by_measure),
        CASE(checking),
        CASE(running_and_reading_need_no_memory),
        CASE(wisdom_without_memory),
        CASE(wisdom_without_memory_for_json),
        CASE(wisdom_on_a_broken_disk),
        CASE(planning_on_a_broken_disk),
    };
    write_only_own();
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
