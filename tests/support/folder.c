/*
 * A folder for one test: in memory where there is such a file system, because a test that fails every call of a save
 * syncs thousands of times; else below /tmp.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/fail_nth.h"

static char start_folder[4096];
static char folder[64];

int folder_enter(void **state) {
    snprintf(folder, sizeof folder, "%s/braid_test_XXXXXX", access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
    *state = folder;
    umask(022);
    if (!*start_folder && !getcwd(start_folder, sizeof start_folder)) return -1;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

int folder_leave(void **state) {
    char command[256];
    fail_files_remove();
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return chdir(start_folder) != 0 || system(command) != 0;
}

int folder_entries(const char *path) {
    int count = -2;
    DIR *entries = opendir(path);
    if (!entries) return -1;
    while (readdir(entries)) count++;
    closedir(entries);
    return count;
}

int folder_begin_with(const char *path, const char *start) {
    int count = 0;
    DIR *entries = opendir(path);
    if (!entries) return 0;
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        count += strncmp(entry->d_name, start, strlen(start)) == 0;
    closedir(entries);
    return count;
}
