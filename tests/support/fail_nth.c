/*
 * The fail-the-Nth-call shims. Each is the system's own call behind one counter, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/fail_nth.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"

typedef struct fault {
    int64_t nth;
    fail_mode mode;
    atomic_int_fast64_t calls, failures;
} fault;

static void arm(fault *f, int64_t nth, fail_mode mode) {
    f->nth = nth;
    f->mode = mode;
    atomic_store(&f->calls, 0);
    atomic_store(&f->failures, 0);
}

static int64_t disarm(fault *f) {
    f->nth = 0;
    return atomic_load(&f->failures);
}

/* Counts a call and says whether it is one to fail. */
static bool strikes(fault *f) {
    int64_t call = atomic_fetch_add(&f->calls, 1) + 1;
    bool hit = f->nth > 0 && (f->mode == FAIL_ONCE ? call == f->nth : call >= f->nth);
    if (hit) atomic_fetch_add(&f->failures, 1);
    return hit;
}

/* ---- Allocations -------------------------------------------------------------------------- */

static fault alloc_fault;

static void *faulty_alloc(void *user, size_t bytes, size_t alignment) {
    void *memory = NULL;
    (void)user;
    if (strikes(&alloc_fault) || posix_memalign(&memory, alignment, bytes) != 0) return NULL;
    return memset(memory, 0xff, bytes);
}

static void plain_free(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void set_allocator(const braid_allocator *allocator) {
    if (braid_set_allocator(allocator) == BRAID_OK) return;
    fprintf(stderr, "fail_nth: %s\n", braid_message());
    abort();
}

void fail_alloc_install(void) {
    arm(&alloc_fault, 0, FAIL_ONCE);
    set_allocator(&(braid_allocator){faulty_alloc, plain_free, NULL});
}

void fail_alloc_remove(void) { set_allocator(NULL); }

void fail_alloc_arm(int64_t nth, fail_mode mode) { arm(&alloc_fault, nth, mode); }

int64_t fail_alloc_disarm(void) { return disarm(&alloc_fault); }

int64_t fail_alloc_calls(void) { return atomic_load(&alloc_fault.calls); }

/* ---- File calls --------------------------------------------------------------------------- */

static fault files_fault;
static unsigned files_counted;
static int files_error;

/* Whether this call fails with an errno, which is then set. */
static bool file_call_fails(unsigned call) {
    if (files_error == FAIL_SHORT || !(files_counted & call) || !strikes(&files_fault)) return false;
    if (files_error == FAIL_KILL) raise(SIGKILL);
    errno = files_error;
    return true;
}

/* How many bytes this call may move. */
static size_t bytes_let_through(unsigned call, size_t bytes) {
    if (files_error != FAIL_SHORT || !(files_counted & call) || !strikes(&files_fault)) return bytes;
    return bytes > 1 ? bytes / 2 : bytes;
}

static int faulty_open(const char *path, int flags, unsigned mode) {
    return file_call_fails(FAIL_OPEN) ? -1 : open(path, flags, (mode_t)mode);
}

static ssize_t faulty_pread(int fd, void *data, size_t bytes, off_t offset) {
    return file_call_fails(FAIL_PREAD) ? -1 : pread(fd, data, bytes_let_through(FAIL_PREAD, bytes), offset);
}

static ssize_t faulty_pwrite(int fd, const void *data, size_t bytes, off_t offset) {
    return file_call_fails(FAIL_WRITE) ? -1 : pwrite(fd, data, bytes_let_through(FAIL_WRITE, bytes), offset);
}

static int faulty_fsync(int fd) { return file_call_fails(FAIL_FSYNC) ? -1 : fsync(fd); }

static int faulty_close(int fd) {
    bool fails = file_call_fails(FAIL_CLOSE);
    int error = errno, result = close(fd);
    if (!fails) return result;
    errno = error;
    return -1;
}

static int faulty_rename(const char *from, const char *to) {
    return file_call_fails(FAIL_RENAME) ? -1 : rename(from, to);
}

static int faulty_unlink(const char *path) { return file_call_fails(FAIL_UNLINK) ? -1 : unlink(path); }

static int faulty_mkdir(const char *path, unsigned mode) {
    return file_call_fails(FAIL_MKDIR) ? -1 : mkdir(path, (mode_t)mode);
}

static int faulty_link(const char *from, const char *to) { return file_call_fails(FAIL_LINK) ? -1 : link(from, to); }

static int faulty_flock(int fd, int operation) { return file_call_fails(FAIL_FLOCK) ? -1 : flock(fd, operation); }

/* What a full disk says of itself, where fail_files_fill has filled it. */
static int free_blocks;

static int faulty_statvfs(const char *path, struct statvfs *info) {
    int result = statvfs(path, info);
    if (free_blocks) {
        info->f_frsize = 4096;
        info->f_bavail = (fsblkcnt_t)free_blocks;
    }
    return result;
}

void fail_files_fill(int blocks) { free_blocks = blocks; }

void fail_files_install(void) {
    static const files_table faulty = {faulty_open,  faulty_pread,  faulty_pwrite, faulty_fsync,
                                       faulty_close, faulty_rename, faulty_unlink, faulty_mkdir,
                                       faulty_link,  faulty_flock,  faulty_statvfs};
    fail_files_arm(0, 0, FAIL_ONCE, EIO);
    files_set_table(&faulty);
}

void fail_files_remove(void) {
    free_blocks = 0;
    files_set_table(NULL);
}

void fail_files_arm(unsigned calls, int64_t nth, fail_mode mode, int error) {
    files_counted = calls;
    files_error = error;
    arm(&files_fault, nth, mode);
}

int64_t fail_files_disarm(void) { return disarm(&files_fault); }

int64_t fail_files_calls(void) { return atomic_load(&files_fault.calls); }
