/*
 * Tests of core/within: what lies in a folder is read, by links within it, too; what a link leads out of it to is not,
 * and the message names the link.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/within.h"
#include "tests/support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "tests/support/folder.h"

static void put(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("text", file);
    fclose(file);
}

/* set/in/a, setting/b beside it, and links. */
static void make(void) {
    assert_int_equal(mkdir("set", 0755) | mkdir("set/in", 0755) | mkdir("setting", 0755), 0);
    put("set/in/a");
    put("setting/b");
    assert_int_equal(symlink("in/a", "set/inside"), 0);
    assert_int_equal(symlink("../setting/b", "set/outside"), 0); /* a name that begins like the folder's */
    assert_int_equal(symlink("../setting", "set/folder"), 0);
    assert_int_equal(symlink("../set/in/a", "set/around"), 0); /* out and in again */
    assert_int_equal(symlink("loop", "set/loop"), 0);
    assert_int_equal(symlink("set", "link"), 0);
}

static braid_status reads(const char *root, const char *path) {
    char *data;
    size_t bytes;
    braid_status status = files_read_within(root, path, 100, BRAID_ERROR_DATA, &data, &bytes);
    if (!status) assert_string_equal(data, "text");
    memory_free(data);
    return status;
}

static void refused(const char *root, const char *path, const char *words) {
    assert_int_equal(reads(root, path), BRAID_ERROR_DATA);
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

static void links_stay_in_the_folder(void **state) {
    (void)state;
    make();
    for (int behind = 0; behind < 2; behind++) { /* the folder itself may be behind a link */
        const char *folder = behind ? "link" : "set";
        char path[64], *root;
        assert_int_equal(within_root(folder, &root), BRAID_OK);
        static const char *const good[] = {"in/a", "inside", "around"};
        for (size_t j = 0; j < 3; j++) {
            snprintf(path, sizeof path, "%s/%s", folder, good[j]);
            assert_int_equal(reads(root, path), BRAID_OK);
        }
        snprintf(path, sizeof path, "%s/outside", folder);
        refused(root, path, "outside: expected a place in /");
        refused(root, path, "/set, got a link to ../setting/b; put a copy there");
        snprintf(path, sizeof path, "%s/folder/b", folder);
        refused(root, path, "/folder to ../setting; put a copy there");
        snprintf(path, sizeof path, "%s/../setting/b", folder);
        refused(root, path, "expected a place in /");
        snprintf(path, sizeof path, "%s/loop", folder);
        assert_int_equal(reads(root, path), BRAID_ERROR_DATA);
        memory_free(root);
    }
    refused("/nowhere", "set/in/a", "expected a place in /nowhere, got /");
    assert_int_equal(reads(NULL, "set/outside"), BRAID_OK);
    assert_int_equal(reads("/", "set/outside"), BRAID_OK);
    assert_int_equal(memory_live(), 0);
}

/* Opening alone can set off a device: what lies outside is not opened either. */
static void what_lies_outside_is_not_opened(void **state) {
    char *root, events[1024];
    (void)state;
    make();
    assert_int_equal(mkfifo("setting/pipe", 0600) | symlink("../setting/pipe", "set/pipe"), 0);
    assert_int_equal(within_root("set", &root), BRAID_OK);
    int watch = inotify_init1(IN_NONBLOCK);
    assert_true(watch >= 0 && inotify_add_watch(watch, "setting", IN_OPEN) >= 0);
    refused(root, "set/outside", "expected a place in /");
    refused(root, "set/pipe", "expected a place in /");
    assert_int_equal(read(watch, events, sizeof events), -1); /* nothing has happened */
    assert_int_equal(reads("/", "set/outside"), BRAID_OK);
    assert_true(read(watch, events, sizeof events) > 0);
    close(watch);
    memory_free(root);
}

static void a_root_must_be_there(void **state) {
    char *root;
    (void)state;
    assert_int_equal(within_root("nowhere", &root), BRAID_ERROR_DATA);
    assert_null(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(links_stay_in_the_folder),
        IN_FOLDER(what_lies_outside_is_not_opened),
        IN_FOLDER(a_root_must_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
