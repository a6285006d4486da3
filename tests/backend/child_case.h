/*
 * A case of a test of the CUDA backend, in a process of its own: a process opens a library, and loses a device, once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_BACKEND_CHILD_CASE_H
#define BRAID_TESTS_BACKEND_CHILD_CASE_H

#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Inside a case: leaves it with the line of the first expectation that does not hold. */
#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            printf("line %d: expected %s; message: %s\n", __LINE__, #condition, braid_message()); \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

static inline int says(const char *text) { return strstr(braid_message(), text) != NULL; }

static inline void run_in_child(int (*run)(void)) {
    int result = 0;
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int failed = run();
        fflush(stdout);
        _exit(failed ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

#endif
