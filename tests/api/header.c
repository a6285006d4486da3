/*
 * Tests of the public header as a text: the example that opens it compiles, links with the library and
 * runs, each header can be included alone, no public function has more than six parameters, and every status must be
 * looked at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/given.h"

#define MOST_PARAMETERS 6
#define HEADER_BYTES (1 << 17)

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif
#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define SANITIZERS "-fsanitize=address,undefined"
#elif defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define SANITIZERS "-fsanitize=thread"
#else
#define SANITIZERS ""
#endif

static void read_header(const char *path, char text[HEADER_BYTES]) {
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("could not open %s; run from the source folder", path);
    size_t bytes = fread(text, 1, HEADER_BYTES - 1, file);
    fclose(file);
    assert_in_range(bytes, 100, HEADER_BYTES - 2);
    text[bytes] = 0;
}

/* The folder of the build: this program lies in <build>/tests/api. */
static void build_folder(char folder[512]) {
    ssize_t bytes = readlink("/proc/self/exe", folder, 511);
    assert_true(bytes > 0);
    folder[bytes] = 0;
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(folder, '/');
        assert_non_null(slash);
        *slash = 0;
    }
}

/* ---- The example -------------------------------------------------------------------------- */

/* The indented lines of the opening comment from the first #include to the closing brace. */
static void cut_example(const char *header, FILE *out) {
    static const char margin[] = " *     ";
    const char *at = strstr(header, " *     #include");
    assert_non_null(at);
    int lines = 0, closed = 0;
    while (!closed) {
        size_t length = strcspn(at, "\n");
        int blank = length <= 2;
        assert_true(blank || strncmp(at, margin, strlen(margin)) == 0);
        size_t skip = blank ? length : strlen(margin);
        fprintf(out, "%.*s\n", (int)(length - skip), at + skip);
        closed = !blank && at[skip] == '}';
        at += length + 1;
        lines++;
    }
    assert_in_range(lines, 10, 40);
}

static void compile_and_run(const char *folder, const char *compiler, const char *ending) {
    char build[512], source[512], command[4096];
    build_folder(build);
    assert_non_null(getcwd(source, sizeof source));
    snprintf(command, sizeof command, "%s/libbraid.so", build);
    if (access(command, R_OK) != 0) {
        print_message("skip: there is no %s to link with\n", command);
        skip();
    }
    snprintf(
        command, sizeof command,
        "cd '%s' && %s -Wall -Wextra -Werror %s -I'%s/include' example.%s -o example -L'%s' -lbraid -Wl,-rpath,'%s' "
        "&& BRAID_CACHE_DIR='%s/cache' ./example >out 2>&1 && test ! -s out",
        folder, compiler, SANITIZERS, source, ending, build, build, folder);
    if (system(command) != 0) fail_msg("failed: %s", command);
}

static void the_example_of_the_header_runs(void **state) {
    static char header[HEADER_BYTES];
    char folder[256], path[512];
    (void)state;
    read_header("include/braid.h", header);
    snprintf(folder, sizeof folder, "%s", given_folder());
    snprintf(path, sizeof path, "%s/example.c", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    cut_example(header, file);
    fclose(file);
    compile_and_run(folder, COMPILER " -std=c11 -pedantic", "c");
    given_folder_remove(folder);
}

static void each_header_can_be_included_alone(void **state) {
    static const char *const names[] = {"braid.h", "braid_net.h", "braid_train.h", "braid_lab.h"};
    (void)state;
    for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
        char command[512];
        snprintf(command, sizeof command,
                 "echo '#include <%s>' | " COMPILER " -std=c11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -x c -",
                 names[j]);
        if (system(command) != 0) fail_msg("failed: %s", command);
    }
}

/* ---- Functions ---------------------------------------------------------------------------- */

/* Parameters between the parentheses that begin at `at`: commas outside of inner parentheses. */
static int parameters(const char *at) {
    int count = 1, depth = 0;
    for (; *at; at++) {
        if (*at == '(') depth++;
        if (*at == ')' && --depth == 0) break;
        if (*at == ',' && depth == 1) count++;
    }
    return count;
}

static void no_function_has_more_than_six_parameters(void **state) {
    static const char *const paths[] = {"include/braid.h", "include/braid_net.h", "include/braid_train.h",
                                        "include/braid_lab.h"};
    static char header[HEADER_BYTES];
    (void)state;
    for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
        int functions = 0;
        read_header(paths[j], header);
        for (const char *at = strstr(header, "\nBRAID_API"); at; at = strstr(at + 1, "\nBRAID_API")) {
            const char *open = strchr(at, '('), *end = strchr(at, ';');
            assert_true(open && end && open < end);
            if (parameters(open) > MOST_PARAMETERS)
                fail_msg("more than %d parameters: %.*s", MOST_PARAMETERS, (int)(end - at), at);
            functions++;
        }
        assert_true(functions >= 5);
        for (const char *at = strstr(header, "(*"); at; at = strstr(at + 1, "(*")) { /* callbacks, too */
            const char *open = strchr(at + 2, '(');
            if (open) assert_true(parameters(open) <= MOST_PARAMETERS);
        }
    }
}

/* Every function that can fail must be checked. */
static void every_status_must_be_checked(void **state) {
    static const char *const paths[] = {"include/braid.h", "include/braid_net.h", "include/braid_train.h"};
    static char header[HEADER_BYTES];
    (void)state;
    for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
        int statuses = 0;
        read_header(paths[j], header);
        for (const char *at = strstr(header, "\nBRAID_API"); at; at = strstr(at + 1, "\nBRAID_API")) {
            char declaration[256];
            snprintf(declaration, sizeof declaration, "%.*s", (int)strcspn(at + 1, "("), at + 1);
            if (!strstr(declaration, "braid_status braid_")) continue;
            if (!strstr(declaration, "BRAID_MUST_CHECK")) fail_msg("not marked BRAID_MUST_CHECK: %s", declaration);
            statuses++;
        }
        assert_true(statuses >= 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_header_runs),
        cmocka_unit_test(each_header_can_be_included_alone),
        cmocka_unit_test(no_function_has_more_than_six_parameters),
        cmocka_unit_test(every_status_must_be_checked),
    };
    return cmocka_run_group_tests_name("header", tests, NULL, NULL);
}
