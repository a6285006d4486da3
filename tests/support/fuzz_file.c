/*
 * A file for readers that take a name, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/fuzz_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/mutate.h"

#define MOST_FILES 4

static char paths[MOST_FILES][96];
static int count;

static void remove_files(void) {
    for (int i = 0; i < count; i++) unlink(paths[i]);
}

const char *fuzz_file_path(const char *ending) {
    char path[sizeof paths[0]];
    snprintf(path, sizeof path, "%s/braid_fuzz_%ld%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getpid(), ending);
    for (int i = 0; i < count; i++)
        if (!strcmp(paths[i], path)) return paths[i];
    MUTATE_MUST(count < MOST_FILES);
    if (count == 0) atexit(remove_files);
    memcpy(paths[count], path, sizeof path);
    return paths[count++];
}

void fuzz_file_write(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "w");
    MUTATE_MUST(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}
