/*
 * Tests of core/files, in a folder of its own that each test finds empty. The heart of it: every file
 * call of a replacement fails in every way, and the file holds the old contents or the new ones, whole.
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
#include "core/safetensors.h"
#include "core/temporaries.h"
#include "tests/support/fail_nth.h"
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

static unsigned mode_of(const char *path) {
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & 07777;
}

static void replace_and_read(void **state) {
    (void)state;
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    assert_contents("file", OLD);
    assert_int_equal(mode_of("file"), 0644);
    assert_int_equal(files_replace("./file", NEW, strlen(NEW)), BRAID_OK);
    assert_contents("file", NEW);
    assert_int_equal(files_replace("file", NULL, 0), BRAID_OK);
    assert_contents("file", "");
    umask(027);
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    assert_int_equal(mode_of("file"), 0640);
    assert_int_equal(folder_entries("."), 1);
    assert_int_equal(files_replace("", OLD, 1), BRAID_ERROR_ARGUMENT);
    assert_int_equal(files_replace("missing/file", OLD, 1), BRAID_ERROR_DISK);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(files_replace("folder", OLD, 1), BRAID_ERROR_DISK);
    assert_int_equal(mkfifo("pipe", 0600), 0); /* a rename would take its place */
    assert_int_equal(files_replace("pipe", OLD, 1), BRAID_ERROR_DISK);
    assert_int_equal(mode_of("pipe"), 0600);
    assert_int_equal(unlink("pipe"), 0);
    assert_int_equal(folder_entries("."), 2);
    assert_int_equal(memory_live(), 0);
}

static void steps_over_old_temporaries(void **state) {
    char name[TEMPORARY_NAME_BYTES], left_name[TEMPORARY_NAME_BYTES + 16];
    int head;
    unsigned count;
    (void)state;
    temporary_name(name);
    assert_int_equal(sscanf(name, ".braid.%*d.%*u.%*x.%n%u.tmp", &head, &count), 1);
    for (unsigned i = 1; i <= 50; i++) { /* the names that come next */
        snprintf(left_name, sizeof left_name, "%.*s%u.tmp", head, name, count + i);
        FILE *left = fopen(left_name, "w");
        assert_non_null(left);
        fclose(left);
    }
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    assert_contents("file", OLD);
    assert_int_equal(folder_entries("."), 51);
}

/* One replacement under one fault. Whether it says yes or no, the file is whole and nothing is left over. */
static int64_t replace_under_fault(unsigned calls, int64_t nth, fail_mode mode, int error) {
    char *data;
    size_t bytes;
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    fail_files_arm(calls, nth, mode, error);
    braid_status status = files_replace("file", NEW, strlen(NEW));
    int64_t failures = fail_files_disarm();
    assert_int_equal(files_read("file", 1000, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    int is_new = strcmp(data, NEW) == 0;
    if (!is_new) assert_string_equal(data, OLD);
    memory_free(data);
    if (status == BRAID_OK) {
        assert_true(is_new);
    } else {
        assert_int_equal(status, BRAID_ERROR_DISK);
        assert_true(failures > 0);
        if (is_new) assert_non_null(strstr(braid_message(), "in place")); /* only its folder was not synced */
    }
    if (error == FAIL_SHORT || (error == EINTR && mode == FAIL_ONCE && !(calls & FAIL_RENAME))) assert_true(is_new);
    assert_int_equal(memory_live(), 0);
    return failures;
}

static void every_call_fails_once(void **state) {
    static const int errors[] = {ENOSPC, EIO, EINTR, EDQUOT, FAIL_SHORT};
    (void)state;
    fail_files_install();
    for (int e = 0; e < 5; e++) {
        for (unsigned call = 1; call <= FAIL_LINK; call <<= 1) {
            int64_t nth = 1;
            while (replace_under_fault(call, nth, FAIL_ONCE, errors[e]) > 0) {
                assert_int_equal(folder_entries("."), 1);
                nth++;
            }
        }
        int64_t nth = 1;
        while (replace_under_fault(FAIL_ANY_FILE_CALL, nth, FAIL_ONCE, errors[e]) > 0) {
            assert_int_equal(folder_entries("."), 1);
            nth++;
        }
        assert_true(nth > (errors[e] == FAIL_SHORT ? 1 : 8));
    }
}

/* Everything from the Nth call on fails. The temporary may stay only when its removal failed, too. */
static void every_call_fails_for_good(void **state) {
    static const int errors[] = {ENOSPC, EIO, EINTR, FAIL_SHORT};
    static const unsigned steps[] = {FAIL_OPEN, FAIL_WRITE, FAIL_FSYNC, FAIL_CLOSE, FAIL_RENAME};
    (void)state;
    fail_files_install();
    for (int e = 0; e < 4; e++) {
        for (int s = 0; s < 5; s++)
            for (int64_t nth = 1; replace_under_fault(steps[s], nth, FAIL_PERSISTENT, errors[e]) > 0; nth++)
                assert_int_equal(folder_entries("."), 1);
        for (int64_t nth = 1; replace_under_fault(FAIL_ANY_FILE_CALL, nth, FAIL_PERSISTENT, errors[e]) > 0; nth++) {
            assert_in_range(folder_entries("."), 1, 2);
            assert_int_equal(system("rm -f .braid.*.tmp"), 0);
        }
    }
}

static void every_allocation_fails(void **state) {
    int64_t nth = 0, failures;
    (void)state;
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    fail_alloc_install();
    do {
        fail_alloc_arm(++nth, FAIL_ONCE);
        braid_status status = files_replace("file", NEW, strlen(NEW));
        failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        assert_int_equal(folder_entries("."), 1);
        assert_int_equal(memory_live(), 0);
        assert_contents("file", failures ? OLD : NEW);
    } while (failures > 0);
    assert_in_range(nth, 2, 10);
    fail_alloc_remove();
}

static void reading_under_faults(void **state) {
    static char large[100000];
    char *data;
    size_t bytes;
    (void)state;
    for (size_t i = 0; i < sizeof large; i++) large[i] = (char)(i % 251);
    assert_int_equal(files_replace("file", large, sizeof large), BRAID_OK);
    fail_files_install();
    for (int64_t nth = 1, failures = 1; failures > 0; nth++) {
        fail_files_arm(FAIL_ANY_FILE_CALL, nth, FAIL_ONCE, EIO);
        braid_status status = files_read("file", sizeof large, BRAID_ERROR_MODEL, &data, &bytes);
        failures = fail_files_disarm();
        if (status == BRAID_OK)
            assert_memory_equal(data, large, sizeof large);
        else
            assert_int_equal(status, BRAID_ERROR_MODEL);
        memory_free(data);
        assert_int_equal(memory_live(), 0);
    }
    for (int pass = 0; pass < 2; pass++) { /* short and interrupted reads go on */
        fail_files_arm(FAIL_PREAD, pass ? 1 : 2, pass ? FAIL_PERSISTENT : FAIL_ONCE, pass ? FAIL_SHORT : EINTR);
        assert_int_equal(files_read("file", sizeof large, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
        assert_true(fail_files_disarm() > 0);
        assert_int_equal(bytes, sizeof large);
        assert_memory_equal(data, large, sizeof large);
        memory_free(data);
    }
    fail_files_arm(FAIL_PREAD, 1, FAIL_PERSISTENT, EINTR); /* ends, too */
    assert_int_equal(files_read("file", sizeof large, BRAID_ERROR_DATA, &data, &bytes), BRAID_ERROR_DATA);
    fail_files_disarm();
}

static void reading_limits_and_kinds(void **state) {
    char *data;
    size_t bytes;
    (void)state;
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    assert_int_equal(files_read("file", strlen(OLD), BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    memory_free(data);
    assert_int_equal(files_read("file", SIZE_MAX, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    memory_free(data);
    assert_int_equal(files_read("file", strlen(OLD) - 1, BRAID_ERROR_DATA, &data, &bytes), BRAID_ERROR_DATA);
    assert_null(data);
    assert_int_equal(files_read("missing", 10, BRAID_ERROR_MODEL, &data, &bytes), BRAID_ERROR_MODEL);
    assert_non_null(strstr(braid_message(), "missing"));
    assert_int_equal(files_read(".", 10, BRAID_ERROR_DATA, &data, &bytes), BRAID_ERROR_DATA);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(files_read("pipe", 10, BRAID_ERROR_DATA, &data, &bytes), BRAID_ERROR_DATA); /* and does not wait */
    assert_int_equal(files_replace("file", "", 0), BRAID_OK);
    assert_int_equal(files_read("file", 0, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    memory_free(data);
    assert_int_equal(files_read("/proc/self/status", 1 << 20, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    assert_true(bytes > 100); /* a file that says its size is 0 */
    memory_free(data);
    assert_int_equal(memory_live(), 0);
}

static void private_folder(void **state) {
    (void)state;
    assert_int_equal(files_make_private_folder("a/b//c/"), BRAID_OK);
    assert_int_equal(mode_of("a/b/c"), 0700);
    assert_int_equal(mode_of("a"), 0700);
    assert_int_equal(files_make_private_folder("a/b/c"), BRAID_OK);
    assert_int_equal(files_make_private_folder(""), BRAID_ERROR_ARGUMENT);
    assert_int_equal(chmod("a/b/c", 0755), 0); /* others may read */
    assert_int_equal(files_make_private_folder("a/b/c"), BRAID_OK);
    assert_int_equal(chmod("a/b/c", 0720), 0);
    assert_int_equal(files_make_private_folder("a/b/c"), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "0720"));
    assert_int_equal(chmod("a/b/c", 0702), 0);
    assert_int_equal(files_make_private_folder("a/b/c"), BRAID_ERROR_DISK);
    assert_int_equal(symlink("a/b", "link"), 0);
    assert_int_equal(files_make_private_folder("link"), BRAID_ERROR_DISK);
    assert_int_equal(files_make_private_folder("link/"), BRAID_ERROR_DISK);
    assert_int_equal(files_make_private_folder("link/d"), BRAID_OK); /* a link on the way is the user's choice */
    assert_int_equal(files_replace("file", OLD, 1), BRAID_OK);
    assert_int_equal(files_make_private_folder("file"), BRAID_ERROR_DISK);
    assert_int_equal(files_make_private_folder("file/below"), BRAID_ERROR_DISK);
    assert_int_equal(memory_live(), 0);
}

static void foreign_folder(void **state) {
    (void)state;
    if (geteuid() != 0) { /* / is the root's */
        assert_int_equal(files_make_private_folder("/"), BRAID_ERROR_DISK);
        return;
    }
    assert_int_equal(mkdir("foreign", 0700), 0);
    assert_int_equal(chown("foreign", 12345, (gid_t)-1), 0);
    assert_int_equal(files_make_private_folder("foreign"), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "12345"));
}

static void private_folder_under_faults(void **state) {
    int64_t failures = 1;
    (void)state;
    fail_files_install();
    for (int64_t nth = 1; failures > 0; nth++) {
        assert_int_equal(system("rm -rf a"), 0);
        fail_files_arm(FAIL_OPEN | FAIL_MKDIR, nth, FAIL_ONCE, ENOSPC);
        braid_status status = files_make_private_folder("a/b");
        failures = fail_files_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_DISK : BRAID_OK);
        assert_int_equal(memory_live(), 0);
    }
}

static void expect_cache(const char *cache, const char *home, const char *expected) {
    static const char *const names[] = {"XDG_CACHE_HOME", "HOME"};
    const char *const values[] = {cache, home};
    char *path;
    for (int i = 0; i < 2; i++) {
        if (values[i])
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    }
    braid_status status = files_cache_folder(&path);
    assert_int_equal(status, expected ? BRAID_OK : BRAID_ERROR_ARGUMENT);
    if (expected)
        assert_string_equal(path, expected);
    else
        assert_null(path);
    memory_free(path);
}

/* Folders are made all or none, and only those that were made are removed again. */
static void folders_unmade(void **state) {
    char path[320] = "up/on/";
    int made = -1;
    (void)state;
    memset(path + strlen(path), 'a', 300);
    assert_int_equal(files_make_folder(path, &made), BRAID_ERROR_DISK); /* the name is too long */
    assert_int_equal(made, 0);
    assert_int_equal(access("up", F_OK), -1);
    assert_int_equal(files_make_folder("up", &made), BRAID_OK);
    assert_int_equal(made, 1);
    assert_int_equal(files_make_folder("up/on/top/", &made), BRAID_OK);
    assert_int_equal(made, 2);
    assert_int_equal(rmdir("up/on/top"), 0); /* somebody else did */
    files_unmake_folder("up/on/top/", made);
    assert_int_equal(access("up/on", F_OK), 0);
    assert_int_equal(files_make_folder("up/on/top/.", &made), BRAID_OK);
    assert_int_equal(made, 1);
    files_unmake_folder("up/on/top/.", made);
    assert_int_equal(access("up/on/top", F_OK), -1);
    assert_int_equal(access("up/on", F_OK), 0);
}

/* One lock at a time, within a process too; where the file system has none, everybody may work. */
static void locks(void **state) {
    files_lock first, second;
    (void)state;
    assert_int_equal(files_make_folder("f", NULL), BRAID_OK);
    assert_int_equal(files_lock_folder(&first, "f"), BRAID_OK);
    assert_true(first.held);
    assert_int_equal(files_lock_folder(&second, "f"), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "f: expected a folder that nobody works in"));
    files_unlock(&second);
    files_unlock(&first);
    files_unlock(&first);
    assert_int_equal(files_lock_folder(&first, "nosuch"), BRAID_ERROR_DISK);
    fail_files_install();
    fail_files_arm(FAIL_FLOCK, 1, FAIL_ONCE, EINTR);
    assert_int_equal(files_lock_folder(&first, "f"), BRAID_OK);
    assert_true(first.held);
    fail_files_arm(FAIL_FLOCK, 1, FAIL_PERSISTENT, ENOLCK);
    assert_int_equal(files_lock_folder(&second, "f"), BRAID_OK);
    assert_false(second.held);
    fail_files_remove();
    files_unlock(&first);
    files_unlock(&second);
}

/* Every way to open a file for reading, of one that is refused. */
static void refuse_inputs(const char *path) {
    files_input in;
    safetensors *model;
    char *data;
    size_t bytes;
    assert_int_equal(files_input_open(&in, path, BRAID_ERROR_DATA), BRAID_ERROR_DATA);
    files_input_close(&in);
    files_input_close(&in);
    assert_int_equal(files_input_open_within(&in, "f", path, BRAID_ERROR_DATA), BRAID_ERROR_DATA);
    files_input_close(&in);
    assert_int_equal(files_read(path, 100, BRAID_ERROR_DATA, &data, &bytes), BRAID_ERROR_DATA);
    assert_int_equal(safetensors_open(path, &model), *path ? BRAID_ERROR_MODEL : BRAID_ERROR_ARGUMENT);
    safetensors_close(model);
}

static void refuse_outputs(void) {
    files_output out;
    files_growing growing;
    files_lock lock;
    assert_int_equal(files_output_begin(&out, "nosuch/file"), BRAID_ERROR_DISK);
    assert_int_equal(files_replace("nosuch/file", OLD, 1), BRAID_ERROR_DISK);
    assert_int_equal(files_write("nosuch/file", OLD, 1), BRAID_ERROR_DISK);
    assert_int_equal(files_rename("nosuch", "other"), BRAID_ERROR_DISK);
    assert_int_equal(files_make_private_folder("file"), BRAID_ERROR_DISK);
    assert_int_equal(files_lock_folder(&lock, "nosuch"), BRAID_ERROR_DISK);
    files_unlock(&lock);
    files_growing_open(&growing, "nosuch/file", 0);
    assert_int_equal(files_growing_add(&growing, OLD, 1), BRAID_ERROR_DISK);
    files_growing_close(&growing);
    files_growing_close(&growing);
}

/* What is zeroed was never opened, and what is closed is closed once. */
static void close_the_unopened(void) {
    files_input in = {0};
    files_growing growing = {0};
    files_lock lock = {0};
    files_input_close(&in);
    assert_int_equal(files_growing_sync(&growing), BRAID_OK);
    files_growing_close(&growing);
    files_unlock(&lock);
}

/* Descriptor 0 may be a file of the caller, or the lock of a run: no failed open closes or touches it. */
static void failed_opens_close_nothing(void **state) {
    struct stat before, after;
    char left = 0;
    int kept = dup(0);
    (void)state;
    assert_int_equal(files_replace("file", OLD, strlen(OLD)), BRAID_OK);
    assert_int_equal(files_make_folder("f", NULL), BRAID_OK);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    close(0);
    assert_int_equal(open("file", O_RDONLY), 0);
    assert_int_equal(fstat(0, &before), 0);
    static const char *const refused[] = {"nosuch", "nosuch/file", "file/below", "f", "pipe", "loop", ""};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) refuse_inputs(refused[i]);
    refuse_outputs();
    close_the_unopened();
    fail_files_install();
    fail_files_arm(FAIL_OPEN, 1, FAIL_PERSISTENT, EMFILE);
    refuse_inputs("file");
    refuse_outputs();
    fail_files_remove();
    assert_int_equal(fstat(0, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_dev == after.st_dev);
    assert_int_equal(read(0, &left, 1), 1); /* still at its first byte */
    assert_int_equal(left, OLD[0]);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- Folders ------------------------------------------------------------------------------- */

static int plain_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }
static int plain_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

static ino_t synced_folders[16];
static int synced_count;

static int note_and_sync(int fd) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) && synced_count < 16)
        synced_folders[synced_count++] = info.st_ino;
    return fsync(fd);
}

/* A power cut takes no folder that was made: the one that it was made in is synced. */
static void folders_are_synced(void **state) {
    static const char *const parents[] = {".", "a", "a/b"};
    static const files_table noting = {plain_open, pread,       pwrite, note_and_sync, close,  rename,
                                       unlink,     plain_mkdir, link,   flock,         statvfs};
    struct stat info;
    (void)state;
    synced_count = 0;
    files_set_table(&noting);
    assert_int_equal(files_make_folder("a/b/c", NULL), BRAID_OK);
    assert_int_equal(synced_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(parents[i], &info), 0);
        assert_true(synced_folders[i] == info.st_ino);
    }
    assert_int_equal(files_make_folder("a/b/c", NULL), BRAID_OK); /* nothing was made */
    assert_int_equal(synced_count, 3);
    fail_files_install();
    fail_files_arm(FAIL_FSYNC, 2, FAIL_ONCE, EIO);
    assert_int_equal(files_make_folder("d/e", NULL), BRAID_ERROR_DISK);
    assert_int_equal(fail_files_disarm(), 1);
    assert_int_equal(access("d", F_OK), -1); /* none stays */
    fail_files_remove();
    assert_int_equal(memory_live(), 0);
}

static void paths(void **state) {
    char *path;
    (void)state;
    assert_int_equal(files_join("a", "b", &path), BRAID_OK);
    assert_string_equal(path, "a/b");
    memory_free(path);
    assert_int_equal(files_join("/", "b", &path), BRAID_OK);
    assert_string_equal(path, "/b");
    memory_free(path);
    assert_int_equal(files_join("", "b", &path), BRAID_ERROR_ARGUMENT);
    expect_cache("/x", "/h", "/x/braid");
    expect_cache("relative", "/h", "/h/.cache/braid");
    expect_cache(NULL, "/h/", "/h/.cache/braid");
    expect_cache(NULL, NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(replace_and_read),
        IN_FOLDER(steps_over_old_temporaries),
        IN_FOLDER(every_call_fails_once),
        IN_FOLDER(every_call_fails_for_good),
        IN_FOLDER(every_allocation_fails),
        IN_FOLDER(reading_under_faults),
        IN_FOLDER(reading_limits_and_kinds),
        IN_FOLDER(private_folder),
        IN_FOLDER(foreign_folder),
        IN_FOLDER(private_folder_under_faults),
        IN_FOLDER(locks),
        IN_FOLDER(failed_opens_close_nothing),
        IN_FOLDER(folders_are_synced),
        cmocka_unit_test(paths),
        IN_FOLDER(folders_unmade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
