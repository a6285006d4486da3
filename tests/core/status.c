/*
 * Tests of core/status: the message of a thread, and the names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "core/status.h"

static void message_is_kept(void **state) {
    (void)state;
    assert_string_equal(braid_message(), "");
    assert_int_equal(fail(BRAID_ERROR_DATA, "x: expected %d, got %s", 3, "four"), BRAID_ERROR_DATA);
    assert_string_equal(braid_message(), "x: expected 3, got four");
    assert_int_equal(fail(BRAID_ERROR_MODEL, "y: %s", braid_message()), BRAID_ERROR_MODEL);
    assert_string_equal(braid_message(), "y: x: expected 3, got four");
}

/* The detail is the last failure's, and goes with its message where that is kept and put back. */
static void detail_goes_with_its_message(void **state) {
    (void)state;
    assert_int_equal(fail(BRAID_ERROR_DATA, "x"), BRAID_ERROR_DATA);
    assert_int_equal(braid_message_detail(), BRAID_DETAIL_NONE);
    errno = ENOENT;
    assert_int_equal(fail_with(BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH, "got %d", 1), BRAID_ERROR_ARGUMENT);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(braid_message(), "got 1");
    assert_int_equal(braid_message_detail(), BRAID_DETAIL_SMALL_BATCH);
    const fail_kept kept = fail_keep();
    assert_int_equal(fail(BRAID_ERROR_DATA, "y: %s", braid_message()), BRAID_ERROR_DATA);
    assert_int_equal(braid_message_detail(), BRAID_DETAIL_NONE);
    fail_put_back(&kept);
    assert_string_equal(braid_message(), "got 1");
    assert_int_equal(braid_message_detail(), BRAID_DETAIL_SMALL_BATCH);
}

static void message_is_cut_and_cleaned(void **state) {
    char text[3000];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    errno = ENOENT;
    assert_int_equal(fail(BRAID_ERROR_DATA, "%s", text), BRAID_ERROR_DATA);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(strlen(braid_message()), 1023);
    assert_string_equal(braid_message() + 1019, "a...");
    assert_int_equal(fail(BRAID_ERROR_DATA, "a\x1b[31m\x7f\tb\nc"), BRAID_ERROR_DATA);
    assert_string_equal(braid_message(), "a?[31m?\tb\nc");
}

static void *fail_elsewhere(void *argument) {
    (void)argument;
    return fail(BRAID_ERROR_PEER, "elsewhere") == BRAID_ERROR_PEER ? NULL : "wrong status";
}

static void message_belongs_to_thread(void **state) {
    pthread_t thread;
    void *complaint;
    (void)state;
    assert_int_equal(fail(BRAID_ERROR_DISK, "here"), BRAID_ERROR_DISK);
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &complaint), 0);
    assert_null(complaint);
    assert_string_equal(braid_message(), "here");
}

static braid_status leave_by_try(braid_status inner, int *reached) {
    TRY(inner);
    *reached = 1;
    return BRAID_OK;
}

static void try_hands_the_code_up(void **state) {
    int reached = 0;
    (void)state;
    assert_int_equal(leave_by_try(BRAID_ERROR_DEVICE, &reached), BRAID_ERROR_DEVICE);
    assert_int_equal(reached, 0);
    assert_int_equal(leave_by_try(BRAID_OK, &reached), BRAID_OK);
    assert_int_equal(reached, 1);
}

static void names(void **state) {
    static const char *const expected[] = {"ok",     "check",  "argument", "data", "model",
                                           "memory", "device", "disk",     "peer", "diverged"};
    (void)state;
    for (int i = 0; i < 10; i++) assert_string_equal(braid_status_name((braid_status)i), expected[i]);
    assert_string_equal(braid_status_name((braid_status)10), "unknown");
    assert_string_equal(braid_status_name((braid_status)-1), "unknown");
    assert_string_equal(braid_version(), BRAID_VERSION);
    assert_int_equal(braid_abi(), BRAID_ABI);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_is_kept),
        cmocka_unit_test(detail_goes_with_its_message),
        cmocka_unit_test(message_is_cut_and_cleaned),
        cmocka_unit_test(message_belongs_to_thread),
        cmocka_unit_test(try_hands_the_code_up),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
