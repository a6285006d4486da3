/*
 * Tests of core/reals, and of what else reads and prints numbers, in a program that has set the locale of Germany: the
 * decimal comma is nowhere, and the locale is as it was after every call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "core/reals.h"
#include "tests/support/folder.h"

static int is_german; /* 0: there is no such locale on this machine */

/* Makes the locale in the working folder. */
static int set_german(void) {
    char folder[4096];
    if (system("localedef -c -i de_DE -f UTF-8 ./de_DE.UTF-8 >log 2>&1") == -1) return 0;
    if (!realpath(".", folder) || setenv("LOCPATH", folder, 1) != 0) return 0;
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static int enter(void **state) {
    if (folder_enter(state)) return 1;
    is_german = set_german();
    return 0;
}

static int leave(void **state) {
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    return folder_leave(state);
}

static void need_german(void) {
    char text[8];
    if (!is_german) {
        puts("skip: localedef cannot make de_DE.UTF-8 (libc-bin, locales)");
        skip();
    }
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5");
}

static void numbers_have_a_point(void **state) {
    char text[64], *end;
    (void)state;
    need_german();
    assert_int_equal(real_format(text, sizeof text, "%.3f %g %s", 1.5, 1e-7, "0,5"), 15);
    assert_string_equal(text, "1.500 1e-07 0,5");
    real_print(text, sizeof text, 0.1);
    assert_string_equal(text, "0.1");
    assert_true(real_read("2.5,5", &end) == 2.5);
    assert_string_equal(end, ",5");
    snprintf(text, sizeof text, "%g", 0.5); /* the locale is the host's again */
    assert_string_equal(text, "0,5");
}

static void json_has_a_point(void **state) {
    json_t *value;
    char *text;
    size_t bytes;
    double number;
    (void)state;
    need_german();
    assert_int_equal(json_read("{\"a\":0.25}", 10, "JSON", BRAID_ERROR_DATA, &value), BRAID_OK);
    assert_int_equal(json_get_number(value, "a", &number), BRAID_OK);
    assert_true(number == 0.25);
    assert_int_equal(json_write(value, &text, &bytes), BRAID_OK);
    assert_string_equal(text, "{\"a\":0.25}");
    assert_int_equal(json_length(value), bytes);
    memory_free(text);
    json_decref(value);
}

static void messages_are_in_english(void **state) {
    (void)state;
    need_german();
    assert_int_equal(fail(BRAID_ERROR_DATA, "got %.2f", 0.5), BRAID_ERROR_DATA);
    assert_string_equal(braid_message(), "got 0.50");
    assert_string_equal(fail_reason(ENOENT), "No such file or directory");
}

#define IN_GERMANY(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_GERMANY(numbers_have_a_point),
        IN_GERMANY(json_has_a_point),
        IN_GERMANY(messages_are_in_english),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
