/*
 * Tests of core/log. BRAID_LOG is read once, so every case writes its lines in a child process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"

static char output[8192];

static void write_some_lines(void) {
    log_write(LOG_PLAN, "one %d", 1);
    setenv("BRAID_LOG", "all", 1); /* too late: it was read */
    log_write(LOG_CHOOSE, "two\n%s", "\x1b[31m \xc2\x9b \xc3\xa9");
    log_write(LOG_TOPIC_COUNT, "no such topic");
}

static void write_a_long_line(void) {
    char text[5000];
    memset(text, '\a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    log_write(LOG_DEVICE, "%s", text);
}

/* What the child wrote on standard error, in `output`. setting may be NULL: unset. */
static void capture(const char *setting, void (*work)(void)) {
    int ends[2], status;
    size_t used = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setting)
            setenv("BRAID_LOG", setting, 1);
        else
            unsetenv("BRAID_LOG");
        dup2(ends[1], STDERR_FILENO);
        work();
        exit(0); /* not _exit: coverage is written at the exit */
    }
    close(ends[1]);
    while ((got = read(ends[0], output + used, sizeof output - 1 - used)) > 0) used += (size_t)got;
    output[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void silent_without_setting(void **state) {
    (void)state;
    capture(NULL, write_some_lines);
    assert_string_equal(output, "");
    capture("", write_some_lines);
    assert_string_equal(output, "");
    capture("wisdom", write_some_lines);
    assert_string_equal(output, "");
}

static void topics(void **state) {
    static const char plan[] = "braid plan: one 1\n";
    static const char both[] = "braid plan: one 1\nbraid choose: two\\x0a\\x1b[31m \\xc2\\x9b \xc3\xa9\n";
    (void)state;
    capture("plan", write_some_lines);
    assert_string_equal(output, plan);
    capture("plan,choose", write_some_lines);
    assert_string_equal(output, both);
    capture("choose, plan,,", write_some_lines);
    assert_string_equal(output, both);
    capture("all", write_some_lines);
    assert_string_equal(output, both);
}

static void unknown_topic_is_named(void **state) {
    (void)state;
    capture("plans,plan", write_some_lines);
    assert_non_null(strstr(output, "got \"plans\""));
    assert_non_null(strstr(output, "braid plan: one 1\n"));
}

static void long_line_is_cut(void **state) {
    (void)state;
    capture("device", write_a_long_line);
    assert_int_equal(strlen(output), strlen("braid device: ") + 4 * 1020 + strlen("...\n"));
    assert_string_equal(output + strlen(output) - 8, "\\x07...\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_without_setting),
        cmocka_unit_test(topics),
        cmocka_unit_test(unknown_topic_is_named),
        cmocka_unit_test(long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
