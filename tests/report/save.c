/*
 * Tests of braid_text_save: whole or not at all, and a message that names the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report/lab.h"

static char folder[] = "/tmp/braid_save_XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static void expect_content(const char *path, const char *expected) {
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen(expected));
    fclose(file);
    assert_string_equal(text, expected);
}

static int count_files(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *e; (e = readdir(directory));) count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(directory);
    return count;
}

static void makes_folders_and_replaces(void **state) {
    char deep[128], path[160];
    (void)state;
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    snprintf(path, sizeof path, "%s/run.json", deep);
    assert_int_equal(braid_text_save(deep, "run.json", "first"), BRAID_OK);
    expect_content(path, "first");
    assert_int_equal(braid_text_save(deep, "run.json", "second"), BRAID_OK);
    expect_content(path, "second");
    assert_int_equal(count_files(deep), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(deep), 0);
}

/* A file may not grow beyond so many bytes, as on a full disk: the old text stays, and nothing else. */
static void keeps_the_old_text_without_room(void **state) {
    static char text[4096];
    char path[128];
    struct rlimit before, small;
    (void)state;
    memset(text, 'x', sizeof text - 1);
    snprintf(path, sizeof path, "%s/full", folder);
    assert_int_equal(braid_text_save(folder, "full", "old"), BRAID_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    braid_status status = braid_text_save(folder, "full", text);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, BRAID_ERROR_DISK);
    expect_content(path, "old");
    assert_int_equal(count_files(folder), 2);
    assert_int_equal(unlink(path), 0);
}

static void names_what_it_cannot_write(void **state) {
    char path[128];
    (void)state;
    assert_int_equal(braid_text_save("/proc/nowhere", "x", "text"), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_lab_message(), "/proc/nowhere"));
    snprintf(path, sizeof path, "%s/a", folder); /* a folder where the file should be */
    assert_int_equal(braid_text_save(folder, "a", "text"), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_lab_message(), path));
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(makes_folders_and_replaces),
                                       cmocka_unit_test(keeps_the_old_text_without_room),
                                       cmocka_unit_test(names_what_it_cannot_write)};
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
