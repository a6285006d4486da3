/*
 * Shell lines that run the program, in a folder of their own. $B is the program, $S the folder of the suites, $G that
 * of the golden files; each line runs in an empty folder; all lines of a test program share one folder of wisdom.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_SHELL_H
#define BRAID_TESTS_SHELL_H

#include <jansson.h>

#include "tests/support/unit.h"

/* A line with the exit code it must have and words that it must print. */
typedef struct command {
    const char *line;
    int code;
    const char *out; /* words of standard output, separated by |; NULL: it must be empty; "": anything */
    const char *err; /* the same for standard error; words with ! in front must be absent */
} command;

/* Around all tests of a group: makes and removes the folder. BRAID_TEST_PROGRAM names another program to run, one with
 * a planted fault. Returns 0 on success. */
int shell_begin(const char *program);
int shell_end(void **state);

/* Runs a line in the empty work folder. Returns the exit code. */
int shell_run(const char *line);

/* What the last line printed ("out", "err"), or a file that it left ("work/y"). Of the caller, by free. */
char *shell_read(const char *name);

/* The path of a file that the last line left in its work folder; good until the next call. */
const char *shell_path(const char *name);

/* Runs a line that must succeed and print JSON. */
json_t *shell_json(const char *line);

/* A test: *state is the command. */
void shell_expect(void **state);

/* Makes such a test of each of `count` commands, under the name of its line. */
void shell_tests(struct CMUnitTest *tests, const command *commands, size_t count);

#endif
