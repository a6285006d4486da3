/*
 * Folders for tests, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/scratch.h"

#include "tests/support/unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void scratch_begin(scratch *s) {
    snprintf(s->folder, sizeof s->folder, "/tmp/braid_test_XXXXXX");
    assert_non_null(mkdtemp(s->folder));
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

void scratch_end(scratch *s) { assert_int_equal(nftw(s->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0); }

const char *scratch_path(scratch *s, const char *name) {
    snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
    return s->path;
}

void scratch_write(scratch *s, const char *name, const void *data, size_t bytes) {
    FILE *file = fopen(scratch_path(s, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

void scratch_cut(scratch *s, const char *name, size_t bytes) {
    assert_int_equal(truncate(scratch_path(s, name), (off_t)bytes), 0);
}
