/*
 * Tests of suites: the shipped files, comments, and messages that name file and line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "braid_lab.h"

static char path[] = "/tmp/braid_suite_XXXXXX";

static const char *suite_file(const char *text) {
    strcpy(path, "/tmp/braid_suite_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return path;
}

static void expect_failure(const char *text, braid_status expected, const char *message) {
    braid_suite *suite = NULL;
    assert_int_equal(braid_suite_read(suite_file(text), &suite), expected);
    assert_null(suite);
    if (!strstr(braid_lab_message(), message)) fail_msg("expected \"%s\" in \"%s\"", message, braid_lab_message());
    unlink(path);
}

static void comments_and_spaces(void **state) {
    braid_suite *suite = NULL;
    (void)state;
    const char *file =
        suite_file("# a comment\n\n  linear_fwd:f32:b2:c3:k4  # behind it\r\n\tbn_stats:f32:b2:hw3x4:c5");
    assert_int_equal(braid_suite_read(file, &suite), BRAID_OK);
    assert_int_equal(braid_suite_count(suite), 2);
    assert_string_equal(braid_suite_problem(suite, 0), "linear_fwd:f32:n1:b2:c3:k4:bias0:mask0");
    assert_string_equal(braid_suite_path(suite), path);
    assert_null(braid_suite_problem(suite, 2));
    assert_null(braid_suite_problem(suite, -1));
    braid_suite_destroy(suite);
    unlink(path);
}

static void messages(void **state) {
    braid_suite *suite = NULL;
    (void)state;
    expect_failure("# nothing\n\n", BRAID_ERROR_DATA, "found none");
    expect_failure("linear_fwd:f32:b2:c3:k4\nlinear_fwd:f33:b2:c3:k4\n", BRAID_ERROR_ARGUMENT, "line 2: ");
    assert_int_equal(braid_suite_read("no/such/file.txt", &suite), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "no/such/file.txt"));
    assert_int_equal(braid_suite_read("nosuchsuite", &suite), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_lab_message(), "nosuchsuite"));
    assert_int_equal(braid_suite_read("", &suite), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_suite_read("/tmp", &suite), BRAID_ERROR_DATA);
    braid_suite_destroy(NULL);
}

static void assert_distinct(const braid_suite *suite) {
    for (int i = 0; i < braid_suite_count(suite); i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(braid_suite_problem(suite, i), braid_suite_problem(suite, j));
    }
}

/* The convolutions of linet3 are in linet3_bf16, in that dtype, and nothing else is. */
static void bf16_twins(void **state) {
    braid_suite *floats = NULL, *halves = NULL;
    int twin = 0;
    (void)state;
    assert_int_equal(braid_suite_read("bench/suites/linet3.txt", &floats), BRAID_OK);
    assert_int_equal(braid_suite_read("bench/suites/linet3_bf16.txt", &halves), BRAID_OK);
    for (int i = 0; i < braid_suite_count(floats); i++) {
        braid_problem p, q;
        assert_int_equal(braid_problem_parse(braid_suite_problem(floats, i), &p), BRAID_OK);
        if (p.op != BRAID_OP_CONV2D) continue;
        assert_true(twin < braid_suite_count(halves));
        assert_int_equal(braid_problem_parse(braid_suite_problem(halves, twin++), &q), BRAID_OK);
        p.dtype = BRAID_DTYPE_BF16;
        assert_memory_equal(&p, &q, sizeof p);
    }
    assert_int_equal(twin, braid_suite_count(halves));
    braid_suite_destroy(floats);
    braid_suite_destroy(halves);
}

static void shipped_suites(void **state) {
    char *names = NULL;
    braid_suite *suite = NULL;
    (void)state;
    setenv("BRAID_SUITE_PATH", "/nowhere::bench/suites", 1);
    assert_int_equal(braid_suite_names(&names), BRAID_OK);
    assert_string_equal(
        names,
        "fused integrate linear linear_act linet3 linet3_bf16 linet3_f16 odd_f16 passes_f16 prove smoke streams_f16 "
        "tiles");
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
        assert_int_equal(braid_suite_read(name, &suite), BRAID_OK);
        assert_true(braid_suite_count(suite) > 0);
        if (!strcmp(name, "linet3")) assert_int_equal(braid_suite_count(suite), 61);
        assert_distinct(suite);
        braid_suite_destroy(suite);
    }
    braid_text_destroy(names);
    unsetenv("BRAID_SUITE_PATH");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(comments_and_spaces), cmocka_unit_test(messages),
                                       cmocka_unit_test(shipped_suites), cmocka_unit_test(bf16_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
