/*
 * Tests of files that grow: on a disk that drops what a failed sync had not written, behind links and pipes, and where
 * the file is removed while it grows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "tests/support/folder.h"

#define OLD "the old contents"
#define NEW "new contents, which are longer"

static void assert_contents(const char *path, const char *expected) {
    char *data;
    size_t bytes;
    assert_int_equal(files_read(path, 1 << 20, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    assert_int_equal(bytes, strlen(expected));
    assert_string_equal(data, expected);
    memory_free(data);
}

static struct {
    off_t synced;           /* bytes that a sync has confirmed */
    int failures, fail_nth; /* of the syncs of files; 0: none */
} disk;

/* A disk that fails once to sync: as Linux does, it drops what is not synced yet and takes the next sync for good. */
static int drop_and_fail(int fd) {
    char zeros[4096] = {0};
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return fsync(fd);
    if (disk.fail_nth > 0 && --disk.fail_nth == 0) {
        for (off_t at = disk.synced; at < info.st_size; at += (off_t)sizeof zeros)
            if (pwrite(fd, zeros, (size_t)(info.st_size - at < 4096 ? info.st_size - at : 4096), at) < 0) abort();
        disk.failures++;
        errno = EIO;
        return -1;
    }
    disk.synced = info.st_size;
    return fsync(fd);
}

static int plain_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }
static int plain_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

static void install_disk(void) {
    static const files_table failing = {plain_open, pread,       pwrite, drop_and_fail, close,  rename,
                                        unlink,     plain_mkdir, link,   flock,         statvfs};
    files_set_table(&failing);
}

/* Whichever sync fails, the next one that succeeds has all of the file on the disk. */
static void a_failed_sync_writes_again(void **state) {
    (void)state;
    install_disk();
    for (int nth = 1; nth <= 4; nth++) {
        char expected[64] = "";
        files_growing file;
        disk.synced = disk.failures = 0;
        disk.fail_nth = nth;
        files_growing_open(&file, "rows", 0);
        for (int row = 0; row < 4; row++) {
            char text[24];
            snprintf(text, sizeof text, "row %d\n", row);
            strcat(expected, text);
            assert_int_equal(files_growing_add(&file, text, strlen(text)), BRAID_OK);
            braid_status status = files_growing_sync(&file);
            assert_int_equal(status, row + 1 == nth ? BRAID_ERROR_DISK : BRAID_OK);
            if (status) continue; /* as a run does */
            assert_contents("rows", expected);
        }
        assert_int_equal(files_growing_sync(&file), BRAID_OK);
        assert_contents("rows", expected);
        assert_int_equal(disk.failures, 1);
        files_growing_close(&file);
        assert_int_equal(unlink("rows"), 0);
    }
    files_set_table(NULL);
    assert_int_equal(memory_live(), 0);
}

/* Links that lead out of a folder, to a file and to nothing, pipes and folders are refused and left as they are. */
static void nothing_grows_behind_a_link(void **state) {
    static const char *const refused[] = {"link", "dangling", "pipe", "folder"};
    (void)state;
    assert_int_equal(files_replace("outside", OLD, strlen(OLD)), BRAID_OK);
    assert_int_equal(symlink("outside", "link"), 0);
    assert_int_equal(symlink("nosuch", "dangling"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        files_growing file;
        files_growing_open(&file, refused[i], 0);
        assert_int_equal(files_growing_add(&file, NEW, strlen(NEW)), BRAID_ERROR_DISK);
        assert_non_null(strstr(braid_message(), refused[i]));
        if (i < 2) assert_non_null(strstr(braid_message(), "symbolic link"));
        assert_int_equal(files_growing_sync(&file), BRAID_ERROR_DISK);
        if (i == 0) { /* once it is gone, nothing was lost */
            assert_int_equal(unlink("link"), 0);
            assert_int_equal(files_growing_sync(&file), BRAID_OK);
            assert_contents("link", NEW);
        }
        files_growing_close(&file);
    }
    assert_contents("outside", OLD);
    assert_int_equal(access("nosuch", F_OK), -1);
    assert_int_equal(memory_live(), 0);
}

/* Removed or replaced while it grows, before and after a sync: whole again with the next sync. */
static void a_removed_file_is_made_again(void **state) {
    files_growing file;
    (void)state;
    assert_int_equal(files_replace("rows", "a\n", 2), BRAID_OK);
    files_growing_open(&file, "rows", 2);
    assert_int_equal(files_growing_add(&file, "b\n", 2), BRAID_OK);
    assert_int_equal(unlink("rows"), 0);
    assert_int_equal(files_growing_sync(&file), BRAID_OK);
    assert_contents("rows", "a\nb\n");
    assert_int_equal(files_growing_add(&file, "c\n", 2), BRAID_OK);
    assert_int_equal(files_growing_sync(&file), BRAID_OK);
    assert_int_equal(files_replace("rows", "x", 1), BRAID_OK);
    assert_int_equal(files_growing_add(&file, "d\n", 2), BRAID_OK);
    assert_int_equal(files_growing_sync(&file), BRAID_OK);
    assert_contents("rows", "a\nb\nc\nd\n");
    files_growing_close(&file);
    files_growing_open(&file, "rows", 8);
    assert_int_equal(unlink("rows"), 0); /* before it was opened: it begins again, without a hole */
    assert_int_equal(files_growing_add(&file, "e\n", 2), BRAID_OK);
    assert_int_equal(files_growing_sync(&file), BRAID_OK);
    assert_contents("rows", "e\n");
    files_growing_close(&file);
    assert_int_equal(memory_live(), 0);
}

/* A file that nobody syncs does not fill the memory. */
static void what_is_kept_has_a_limit(void **state) {
    static char piece[100000];
    files_growing file;
    (void)state;
    memset(piece, 'x', sizeof piece);
    files_growing_open(&file, "rows", 0);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(files_growing_add(&file, piece, sizeof piece), BRAID_OK);
        assert_true(file.kept_bytes < 1 << 20);
    }
    assert_int_equal(file.bytes + file.kept_bytes, 40 * sizeof piece);
    files_growing_close(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_failed_sync_writes_again),
        IN_FOLDER(nothing_grows_behind_a_link),
        IN_FOLDER(a_removed_file_is_made_again),
        IN_FOLDER(what_is_kept_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
