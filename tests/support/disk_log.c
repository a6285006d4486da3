/*
 * The log, in memory that is shared with children: its addresses are the same in both. Each call of the table is the
 * system's, and is noted where it succeeded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/disk_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"

#define MOST_CALLS 8192
#define MOST_BYTES ((size_t)1 << 24)
#define PATH_BYTES 1024
#define MOST_FDS 1024

struct disk_log {
    int count, syncs;
    bool spared[MOST_FDS]; /* open files whose syncs never fail */
    size_t used;
    disk_faults faults;
    disk_call calls[MOST_CALLS];
    char bytes[MOST_BYTES];
};

static disk_log *noted; /* where the calls of this process go */

static void give_up(const char *why) {
    fprintf(stderr, "disk_log: %s\n", why);
    abort();
}

disk_log *disk_log_create(void) {
    void *memory = mmap(NULL, sizeof(disk_log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_up("no memory");
    return memory;
}

void disk_log_destroy(disk_log *log) { munmap(log, sizeof *log); }

int disk_log_count(const disk_log *log) { return log->count; }

const disk_call *disk_log_at(const disk_log *log, int index) { return &log->calls[index]; }

int disk_log_count_of(const disk_log *log, disk_call_kind kind) {
    int count = 0;
    for (int i = 0; i < log->count; i++) count += log->calls[i].kind == kind;
    return count;
}

static void print_call(const disk_call *call) {
    static const char *const names[] = {"found",  "open", "close",  "write", "sync",
                                        "rename", "link", "unlink", "mkdir", "promise"};
    fprintf(stderr, "%-8s", names[call->kind]);
    if (call->path) fprintf(stderr, "%s ", call->path);
    if (call->to) fprintf(stderr, "to %s ", call->to);
    if (call->kind == DISK_OPEN) fprintf(stderr, "%s", call->is_new ? "(new) as " : "as ");
    if (call->fd) fprintf(stderr, "%d ", call->fd);
    if (call->data) fprintf(stderr, "%zu bytes from %lld", call->bytes, (long long)call->number);
    if (call->kind == DISK_PROMISE) fprintf(stderr, "step %lld", (long long)call->number);
    fprintf(stderr, "%s\n", call->failed ? "failed" : "");
}

void disk_log_print(const disk_log *log, int end) {
    for (int i = 0; i < end; i++) print_call(&log->calls[i]);
}

/* ---- Noting -------------------------------------------------------------------------------- */

static char *keep(disk_log *log, const void *data, size_t bytes) {
    if (bytes > MOST_BYTES - log->used) give_up("more data than there is room for");
    char *place = log->bytes + log->used;
    memcpy(place, data, bytes);
    log->used += bytes;
    return place;
}

static const char *keep_path(disk_log *log, const char *path) {
    if (strncmp(path, "./", 2) == 0) path += 2;
    return keep(log, path, strlen(path) + 1);
}

static disk_call *note(disk_log *log, disk_call_kind kind) {
    if (log->count == MOST_CALLS) give_up("more calls than there is room for");
    disk_call *call = &log->calls[log->count++];
    *call = (disk_call){.kind = kind};
    return call;
}

static void note_paths(disk_call_kind kind, const char *path, const char *to) {
    disk_call *call = note(noted, kind);
    call->path = keep_path(noted, path);
    if (to) call->to = keep_path(noted, to);
}

void disk_log_promise(disk_log *log, int64_t step) { note(log, DISK_PROMISE)->number = step; }

/* ---- What is there at the start ------------------------------------------------------------ */

static void note_file(disk_log *log, disk_call *call) {
    struct stat info;
    int fd = open(call->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) give_up(call->path);
    call->bytes = (size_t)info.st_size;
    if (call->bytes > MOST_BYTES - log->used) give_up("more data than there is room for");
    char *place = log->bytes + log->used;
    if (read(fd, place, call->bytes) != (ssize_t)call->bytes) give_up(call->path);
    log->used += call->bytes;
    call->data = place;
    close(fd);
}

static void note_folder(disk_log *log, const char *folder) {
    DIR *entries = opendir(folder);
    if (!entries) give_up(folder);
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        char path[PATH_BYTES];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) give_up(folder);
        if (lstat(path, &info) != 0) give_up(path);
        disk_call *call = note(log, DISK_FOUND);
        call->path = keep_path(log, path);
        if (S_ISDIR(info.st_mode)) note_folder(log, path);
        if (S_ISREG(info.st_mode)) note_file(log, call);
    }
    closedir(entries);
}

/* ---- Calls --------------------------------------------------------------------------------- */

static int noting_open(const char *path, int flags, unsigned mode) {
    bool was_there = access(path, F_OK) == 0;
    int fd = open(path, flags, (mode_t)mode);
    if (fd < 0 || ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY))) return fd;
    if (was_there && (flags & O_TRUNC)) give_up("a file is cut, which the model of the disk does not know");
    if (fd >= MOST_FDS) give_up("too many open files");
    noted->spared[fd] = (flags & O_DIRECTORY) && noted->faults.spare_folders;
    note_paths(DISK_OPEN, path, NULL);
    disk_call *call = &noted->calls[noted->count - 1];
    call->fd = fd;
    call->is_new = !was_there;
    return fd;
}

static ssize_t noting_pwrite(int fd, const void *data, size_t bytes, off_t offset) {
    ssize_t put = pwrite(fd, data, bytes, offset);
    if (put <= 0) return put;
    disk_call *call = note(noted, DISK_WRITE);
    call->fd = fd;
    call->number = offset;
    call->bytes = (size_t)put;
    call->data = keep(noted, data, (size_t)put);
    return put;
}

static int noting_fsync(int fd) {
    bool fails = !noted->spared[fd] && ++noted->syncs == noted->faults.failing_sync;
    if (!fails && fsync(fd) != 0) return -1;
    disk_call *call = note(noted, DISK_SYNC);
    call->fd = fd;
    call->failed = fails;
    if (fails) errno = EIO;
    return fails ? -1 : 0;
}

static int noting_close(int fd) {
    note(noted, DISK_CLOSE)->fd = fd;
    return close(fd);
}

static int noting_rename(const char *from, const char *to) {
    int result = rename(from, to);
    if (result == 0) note_paths(DISK_RENAME, from, to);
    return result;
}

static int noting_unlink(const char *path) {
    int result = unlink(path);
    if (result == 0) note_paths(DISK_UNLINK, path, NULL);
    return result;
}

static int noting_mkdir(const char *path, unsigned mode) {
    int result = mkdir(path, (mode_t)mode);
    if (result == 0) note_paths(DISK_MKDIR, path, NULL);
    return result;
}

static int noting_link(const char *from, const char *to) {
    if (noted->faults.no_links) {
        errno = EPERM;
        return -1;
    }
    int result = link(from, to);
    if (result == 0) note_paths(DISK_LINK, from, to);
    return result;
}

void disk_log_start(disk_log *log, const disk_faults *faults) {
    static const files_table noting = {noting_open,  pread,         noting_pwrite, noting_fsync,
                                       noting_close, noting_rename, noting_unlink, noting_mkdir,
                                       noting_link,  flock,         statvfs};
    log->count = log->syncs = 0;
    log->used = 0;
    log->faults = *faults;
    note_folder(log, ".");
    noted = log;
    files_set_table(&noting);
}
