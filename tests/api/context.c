/*
 * Tests of contexts: what they take from the environment, their memory, and that they are refused
 * after a fork, in words, by every call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "tests/support/given.h"

static const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};

static void assert_ok(braid_status status) {
    if (status != BRAID_OK) fail_msg("%s: %s", braid_status_name(status), braid_message());
}

/* ---- Options and environment ---------------------------------------------------------------- */

/* Whether a context with this `disable` leaves oneDNN out. */
static int leaves_out(const char *disable) {
    braid_context *context = NULL;
    int left_out = 0;
    assert_ok(braid_context_create(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, "", disable}, &context));
    braid_op *op = given_op(context, "linear_fwd:b2:c2:k2");
    assert_ok(braid_op_plan(op, &estimate));
    for (int j = 0; j < braid_op_explain(op)->count; j++) {
        const braid_candidate *c = &braid_op_explain(op)->candidates[j];
        left_out |= strstr(c->kernel, "onednn") && c->reason && strstr(c->reason, "BRAID_DISABLE");
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
    return left_out;
}

static void candidates_left_out_by_the_environment(void **state) {
    (void)state;
    unsetenv("BRAID_DISABLE");
    assert_false(leaves_out(NULL));
    assert_true(leaves_out("onednn"));
    setenv("BRAID_DISABLE", "openblas,onednn", 1);
    assert_true(leaves_out(NULL));
    assert_false(leaves_out("")); /* an option is stronger */
    unsetenv("BRAID_DISABLE");
}

static void the_device_of_the_environment(void **state) {
    braid_context *context = NULL;
    (void)state;
    setenv("BRAID_DEVICE", "cpu", 1);
    assert_ok(braid_context_create(NULL, &context)); /* no options at all */
    assert_string_equal(braid_context_device(context), "cpu");
    braid_context_destroy(context);
    setenv("BRAID_DEVICE", "abacus", 1);
    assert_refused(braid_context_create(NULL, &context), BRAID_ERROR_ARGUMENT, "device|abacus");
    assert_null(context);
    assert_ok(braid_context_create(&(braid_context_options){.device = "cpu"}, &context)); /* an option is stronger */
    braid_context_destroy(context);
    unsetenv("BRAID_DEVICE");
    assert_string_equal(braid_context_device(NULL), "");
    assert_int_equal(memory_live(), 0);
}

static void the_folder_of_the_environment(void **state) {
    char folder[256];
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    setenv("BRAID_CACHE_DIR", folder, 1);
    for (int round = 0; round < 2; round++) {
        braid_context *context = NULL;
        assert_ok(
            braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .disable = ""}, &context));
        braid_op *op = given_op(context, "linear_fwd:f16:b2:c2:k2");
        assert_ok(braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}));
        assert_int_equal(braid_op_explain(op)->from_wisdom, round);
        braid_op_destroy(op);
        braid_context_destroy(context);
    }
    assert_int_equal(given_entries(folder, ".wisdom"), 1);
    unsetenv("BRAID_CACHE_DIR");
    given_folder_remove(folder);
}

/* An empty variable keeps none, as the option "" does, whatever other folder there would be. */
static void an_empty_folder_of_the_environment(void **state) {
    char folder[256];
    braid_context *context = NULL;
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    setenv("XDG_CACHE_HOME", folder, 1);
    for (int is_empty = 1; is_empty >= 0; is_empty--) {
        if (is_empty)
            setenv("BRAID_CACHE_DIR", "", 1);
        else
            unsetenv("BRAID_CACHE_DIR");
        assert_ok(braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1}, &context));
        braid_op *op = given_op(context, "linear_fwd:f16:b2:c2:k2");
        assert_ok(braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}));
        braid_op_destroy(op);
        braid_context_destroy(context);
        assert_int_equal(given_entries(folder, "braid"), !is_empty);
    }
    unsetenv("XDG_CACHE_HOME");
    given_folder_remove(folder);
}

/* No folder can be thought of: wisdom is kept nowhere, and planning goes on. */
static void no_folder_in_the_environment(void **state) {
    char home[512];
    braid_context *context = NULL;
    const char *told = getenv("HOME");
    (void)state;
    snprintf(home, sizeof home, "%s", told ? told : "");
    unsetenv("BRAID_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_ok(braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .disable = ""}, &context));
    braid_op *op = given_op(context, "linear_fwd:f16:b2:c2:k2");
    for (int round = 0; round < 2; round++) {
        assert_ok(braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}));
        assert_int_equal(braid_op_explain(op)->from_wisdom, 0);
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
    if (told) setenv("HOME", home, 1);
    assert_int_equal(memory_live(), 0);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void memory_of_the_device(void **state) {
    static const size_t sizes[] = {0, 1, 3, 255, 256, 4097, 1 << 20};
    static unsigned char from[1 << 20], to[1 << 20];
    braid_context *context = given_context("", NULL);
    (void)state;
    for (size_t j = 0; j < sizeof from; j++) from[j] = (unsigned char)(j * 31);
    for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
        void *memory = NULL;
        assert_ok(braid_memory_create(context, sizes[j], &memory));
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 256, 0);
        memset(to, 0, sizeof to);
        assert_ok(braid_upload(context, memory, from, sizes[j]));
        assert_ok(braid_synchronize(context));
        assert_ok(braid_download(context, to, memory, sizes[j]));
        assert_memory_equal(from, to, sizes[j]);
        if (sizes[j] < sizeof to) assert_int_equal(to[sizes[j]], 0);
        braid_memory_destroy(context, memory);
    }
    assert_ok(braid_upload(context, NULL, NULL, 0));
    assert_ok(braid_download(context, NULL, NULL, 0));
    void *memory = from;
    assert_refused(braid_memory_create(context, SIZE_MAX / 2, &memory), BRAID_ERROR_MEMORY, "no memory|bytes");
    assert_null(memory);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* ---- Describing --------------------------------------------------------------------------- */

typedef struct rows {
    int count, model, wisdom;
} rows;

static void count_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    rows *r = user;
    assert_true(section && *section && name && *name && value && *value);
    assert_true(!hint || *hint);
    r->count++;
    r->model |= strcmp(section, "cpu") == 0 && strcmp(name, "model") == 0;
    r->wisdom |= strcmp(section, "wisdom") == 0 && strcmp(value, "kept nowhere") == 0;
}

static void a_context_describes_itself(void **state) {
    braid_context *context = given_context("", NULL);
    rows r = {0};
    (void)state;
    assert_ok(braid_context_describe(context, count_row, &r));
    assert_true(r.count >= 8 && r.model && r.wisdom);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* ---- After a fork ------------------------------------------------------------------------- */

/* Every call on what the parent made; 0: all were refused in words and a context of its own works. */
static int in_the_child(braid_context *context, braid_op *op, void *memory) {
    const braid_problem problem = *braid_op_problem(op);
    braid_ceilings ceilings;
    rows r = {0};
    void *more = NULL;
    braid_op *other = NULL;
    const braid_status calls[] = {
        braid_op_plan(op, &estimate),
        braid_op_run(op, NULL, 0),
        braid_op_check(op, 1),
        braid_op_create(context, &problem, &other),
        braid_memory_create(context, 4, &more),
        braid_upload(context, memory, &r, 4),
        braid_download(context, &r, memory, 4),
        braid_context_describe(context, count_row, &r),
        braid_context_ceilings(context, BRAID_DTYPE_F32, &ceilings),
        braid_synchronize(context),
    };
    for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) {
        if (calls[j] != BRAID_ERROR_ARGUMENT) return 10 + (int)j;
    }
    if (!strstr(braid_message(), "braid_synchronize") || !strstr(braid_message(), "before a fork")) return 3;
    if (!strstr(braid_message(), "create it after the fork") || other || more) return 4;
    braid_op_destroy(op); /* destroying is always allowed */
    braid_context_destroy(context);
    braid_context *own = NULL;
    if (braid_context_create(&(braid_context_options){.device = "cpu", .threads = 1, .cache_dir = ""}, &own) !=
        BRAID_OK)
        return 5;
    if (braid_op_create(own, &problem, &other) != BRAID_OK || braid_op_plan(other, &estimate) != BRAID_OK) return 6;
    braid_op_destroy(other);
    braid_context_destroy(own);
    return 0;
}

static void a_context_is_refused_after_a_fork(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "linear_fwd:b2:c2:k2");
    void *memory = NULL;
    int status = 0;
    (void)state;
    assert_ok(braid_memory_create(context, 64, &memory));
    assert_ok(braid_op_plan(op, &estimate));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(in_the_child(context, op, memory));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ok(braid_op_plan(op, &estimate)); /* the parent goes on */
    braid_memory_destroy(context, memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void no_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    (void)user, (void)section, (void)name, (void)value, (void)hint;
}

/* A machine without some files of /sys, a home or a GPU, wisdom that is not there yet or cannot be kept: none of it
 * fails a call, and none leaves a message. */
static void success_leaves_the_message(void **state) {
    static const char *const folders[] = {"", "/proc/nosuch", NULL};
    static const char *const names[] = {"BRAID_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "BRAID_DEVICE"};
    (void)state;
    for (int i = 0; i < 4; i++) unsetenv(names[i]);
    assert_int_equal(braid_problem_parse("nonsense", &(braid_problem){0}), BRAID_ERROR_ARGUMENT);
    char *last = strdup(braid_message());
    for (int i = 0; i < 3; i++) {
        braid_context *context = NULL;
        braid_op *op = NULL;
        const braid_problem problem = given_problem("linear_fwd:b2:c2:k2");
        assert_ok(braid_context_create(&(braid_context_options){.threads = 1, .cache_dir = folders[i]}, &context));
        assert_string_equal(braid_message(), last);
        assert_ok(braid_context_describe(context, no_row, NULL));
        assert_ok(braid_op_create(context, &problem, &op));
        assert_ok(braid_op_plan(op, &(braid_plan_options){.seconds = 0.01}));
        assert_string_equal(braid_message(), last);
        braid_op_destroy(op);
        braid_context_destroy(context);
    }
    free(last);
    assert_int_equal(memory_live(), 0);
}

/* ---- Names of statuses ---------------------------------------------------------------------- */

static void statuses_have_names(void **state) {
    (void)state;
    assert_string_equal(braid_status_name(BRAID_OK), "ok");
    assert_string_equal(braid_status_name(BRAID_ERROR_ARGUMENT), "argument");
    assert_string_equal(braid_status_name((braid_status)1000), "unknown");
    assert_string_equal(braid_version(), BRAID_VERSION);
    assert_int_equal(braid_abi(), BRAID_ABI);
    assert_non_null(braid_message());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_context_is_refused_after_a_fork),
        cmocka_unit_test(candidates_left_out_by_the_environment),
        cmocka_unit_test(the_device_of_the_environment),
        cmocka_unit_test(the_folder_of_the_environment),
        cmocka_unit_test(an_empty_folder_of_the_environment),
        cmocka_unit_test(no_folder_in_the_environment),
        cmocka_unit_test(memory_of_the_device),
        cmocka_unit_test(a_context_describes_itself),
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(success_leaves_the_message),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
