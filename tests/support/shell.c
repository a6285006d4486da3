/*
 * Shell lines that run the program.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/shell.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/braid_cli_XXXXXX";
static const char *program_path;

char *shell_read(const char *name) {
    char path[128];
    size_t room = 1u << 20, used = 0;
    char *text = calloc(1, room);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file && text) used = fread(text, 1, room - 1, file);
    if (file) fclose(file);
    assert_non_null(text);
    text[used] = 0;
    return text;
}

int shell_run(const char *line) {
    char script[8192];
    snprintf(script, sizeof script,
             "rm -rf %s/work && mkdir %s/work && cd %s/work && export BRAID_CACHE_DIR=%s/cache B='%s' && "
             "unset BRAID_DEVICE BRAID_DISABLE BRAID_SUITE_PATH BRAID_LOG; { %s\n} >%s/out 2>%s/err",
             folder, folder, folder, folder, program_path, line, folder, folder);
    int status = system(script);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_words(const command *c, const char *where, const char *text, const char *words) {
    char word[512];
    if (!words) {
        if (*text) fail_msg("%s: expected nothing on %s, got:\n%s", c->line, where, text);
        return;
    }
    while (*words) {
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        int absent = word[0] == '!';
        if ((strstr(text, word + absent) != NULL) == absent)
            fail_msg("%s: expected%s \"%s\" on %s, got:\n%s", c->line, absent ? " no" : "", word + absent, where, text);
        words += length + (words[length] == '|');
    }
}

void shell_expect(void **state) {
    const command *c = *state;
    int code = shell_run(c->line);
    char *out = shell_read("out"), *err = shell_read("err");
    if (code != c->code) fail_msg("%s: expected exit %d, got %d\n%s%s", c->line, c->code, code, out, err);
    expect_words(c, "standard output", out, c->out);
    expect_words(c, "standard error", err, c->err);
    free(out);
    free(err);
}

void shell_tests(struct CMUnitTest *tests, const command *commands, size_t count) {
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){
            .name = commands[i].line, .test_func = shell_expect, .initial_state = (void *)(uintptr_t)&commands[i]};
}

const char *shell_path(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/work/%s", folder, name);
    return path;
}

json_t *shell_json(const char *line) {
    json_error_t error;
    int code = shell_run(line);
    char *out = shell_read("out");
    if (code) fail_msg("%s: exit %d", line, code);
    json_t *value = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    if (!value) fail_msg("%s: not JSON, %s:\n%s", line, error.text, out);
    free(out);
    return value;
}

int shell_begin(const char *program) {
    char suites[1024], golden[1024], *here = getcwd(NULL, 0);
    const char *other = getenv("BRAID_TEST_PROGRAM");
    program_path = other ? other : program;
    if (!here || !mkdtemp(folder)) return -1;
    snprintf(suites, sizeof suites, "%s/bench/suites", here);
    snprintf(golden, sizeof golden, "%s/tests/golden", here);
    free(here);
    return setenv("S", suites, 1) || setenv("G", golden, 1);
}

int shell_end(void **state) {
    char line[64];
    (void)state;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}
