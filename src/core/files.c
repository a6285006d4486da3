/*
 * Files, read whole and replaced atomically. The table holds every call that can fail for want of disk;
 * what only asks about a file (fstat, stat) stays outside of it. Linux closes the descriptor even when
 * close() is interrupted, so close is never repeated.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/sizes.h"

#define MAX_INTERRUPTS 100 /* in a row, before a call counts as failed */
#define MAX_NAMES 100      /* temporaries of crashed processes to step over */
#define FIRST_READ 4096    /* files of /proc and /sys do not tell their size */
#define FILE_MODE 0644
#define FOLDER_MODE 0700

static int system_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }

static int system_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

static const files_table system_table = {system_open, pread, write, fsync, close, rename, unlink, system_mkdir};
static const files_table *table = &system_table;
static atomic_uint temporary_count;

void files_set_table(const files_table *replacement) { table = replacement ? replacement : &system_table; }

static braid_status fail_file(braid_status code, const char *path, const char *action, int error) {
    char text[128];
    return fail(code, "%s: could not %s: %s", path, action, strerror_r(error, text, sizeof text));
}

static int open_file(const char *path, int flags, unsigned mode) {
    int fd = -1;
    for (int tries = 0; tries < MAX_INTERRUPTS && fd < 0; tries++) {
        fd = table->open(path, flags | O_CLOEXEC, mode);
        if (fd < 0 && errno != EINTR) break;
    }
    return fd;
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* Fills data from the file's start until `room` bytes or the end of the file. False with errno. */
static bool read_bytes(int fd, char *data, size_t room, size_t *used) {
    int interrupts = 0;
    while (*used < room) {
        ssize_t got = table->pread(fd, data + *used, room - *used, (off_t)*used);
        if (got == 0) return true;
        if (got > 0) {
            *used += (size_t)got;
            interrupts = 0;
        } else if (errno != EINTR || ++interrupts == MAX_INTERRUPTS) {
            return false;
        }
    }
    return true;
}

/* Makes the buffer `room` bytes large and keeps the first `used`. */
static braid_status grow_buffer(char **data, size_t used, size_t room) {
    void *larger;
    TRY(memory_alloc(room, 1, "the contents of a file", &larger));
    if (used > 0) memcpy(larger, *data, used);
    memory_free(*data);
    *data = larger;
    return BRAID_OK;
}

/* Reads until the end of the file or one byte over the limit. The buffer has room for a zero byte more. */
static braid_status read_all(int fd, const char *path, size_t expected, size_t limit, braid_status code, char **data,
                             size_t *used) {
    size_t most, room = expected;
    if (!size_add(limit, 1, &most)) most = limit;
    for (;;) {
        size_t buffer_bytes;
        if (room > most) room = most;
        if (!size_add(room, 1, &buffer_bytes))
            return fail(BRAID_ERROR_MEMORY, "%s: the file does not fit in memory", path);
        TRY(grow_buffer(data, *used, buffer_bytes));
        if (!read_bytes(fd, *data, room, used)) return fail_file(code, path, "read", errno);
        if (*used > limit) return fail(code, "%s: expected a file of at most %zu bytes, got a larger one", path, limit);
        if (*used < room || room == most) return BRAID_OK;
        if (!size_mul(room, 2, &room)) room = most;
    }
}

static braid_status read_open_file(int fd, const char *path, size_t limit, braid_status code, char **data,
                                   size_t *used) {
    struct stat info;
    if (fstat(fd, &info) != 0) return fail_file(code, path, "read", errno);
    if (!S_ISREG(info.st_mode)) return fail(code, "%s: expected a file, got a folder or a device", path);
    size_t expected = info.st_size < FIRST_READ ? FIRST_READ : (size_t)info.st_size + 1;
    braid_status status = read_all(fd, path, expected, limit, code, data, used);
    if (status == BRAID_OK) return BRAID_OK;
    memory_free(*data);
    *data = NULL;
    return status;
}

braid_status files_read(const char *path, size_t limit, braid_status code, char **data, size_t *bytes) {
    size_t used = 0;
    *data = NULL;
    *bytes = 0;
    int fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0); /* a pipe must not hold us up */
    if (fd < 0) return fail_file(code, path, "open", errno);
    braid_status status = read_open_file(fd, path, limit, code, data, &used);
    table->close(fd); /* nothing was written: nothing to lose */
    TRY(status);
    (*data)[used] = 0;
    *bytes = used;
    return BRAID_OK;
}

/* ---- Replacing ---------------------------------------------------------------------------- */

static bool write_bytes(int fd, const char *data, size_t bytes) {
    int interrupts = 0;
    while (bytes > 0) {
        ssize_t put = table->write(fd, data, bytes);
        if (put > 0) {
            data += put;
            bytes -= (size_t)put;
            interrupts = 0;
        } else if (put == 0) {
            errno = EIO;
            return false;
        } else if (errno != EINTR || ++interrupts == MAX_INTERRUPTS) {
            return false;
        }
    }
    return true;
}

static bool sync_file(int fd) {
    for (int tries = 0; tries < MAX_INTERRUPTS; tries++) {
        if (table->fsync(fd) == 0) return true;
        if (errno != EINTR) return false;
    }
    return false;
}

/* After a successful sync an interrupted close has lost nothing. */
static bool close_file(int fd) { return table->close(fd) == 0 || errno == EINTR; }

/* Opens a new file in the folder. *name is for memory_free, on success only. */
static braid_status open_temporary(const char *folder, const char *path, char **name, int *fd) {
    for (int tries = 0; tries < MAX_NAMES; tries++) {
        char base[64];
        snprintf(base, sizeof base, ".braid.%ld.%u.tmp", (long)getpid(), atomic_fetch_add(&temporary_count, 1));
        TRY(files_join(folder, base, name));
        *fd = open_file(*name, O_WRONLY | O_CREAT | O_EXCL, FILE_MODE);
        if (*fd >= 0) return BRAID_OK;
        int error = errno;
        memory_free(*name);
        *name = NULL;
        if (error != EEXIST) return fail_file(BRAID_ERROR_DISK, path, "create a temporary file beside it", error);
    }
    return fail(BRAID_ERROR_DISK, "%s: expected a free temporary name, got %d in use; remove %s/.braid.*.tmp", path,
                MAX_NAMES, folder);
}

/* Writes, syncs and closes the temporary, and gives it its name. The caller removes it on failure. */
static braid_status fill_and_rename(int fd, const char *name, const char *path, const void *data, size_t bytes) {
    const char *failed = NULL;
    if (!write_bytes(fd, data, bytes))
        failed = "write";
    else if (!sync_file(fd))
        failed = "sync";
    int error = errno;
    if (!close_file(fd) && !failed) {
        failed = "close";
        error = errno;
    }
    if (!failed && table->rename(name, path) != 0) {
        failed = "rename the temporary file to";
        error = errno;
    }
    return failed ? fail_file(BRAID_ERROR_DISK, path, failed, error) : BRAID_OK;
}

static braid_status replace_in_folder(const char *folder, const char *path, const void *data, size_t bytes) {
    char *name;
    int fd = -1;
    TRY(open_temporary(folder, path, &name, &fd));
    braid_status status = fill_and_rename(fd, name, path, data, bytes);
    for (int tries = 0; status != BRAID_OK && tries < MAX_INTERRUPTS; tries++)
        if (table->unlink(name) == 0 || errno != EINTR) break;
    memory_free(name);
    return status;
}

/* The folder part of a path, "." where it has none. Returns memory for memory_free. */
static braid_status folder_of(const char *path, char **folder) {
    const char *slash = strrchr(path, '/');
    if (!slash) return memory_copy_text(".", folder);
    TRY(memory_copy_text(path, folder));
    (*folder)[slash == path ? 1 : slash - path] = 0;
    return BRAID_OK;
}

/* The folder is opened first, so that only its sync can fail once the new file is in place. */
static braid_status replace_and_sync(const char *folder, const char *path, const void *data, size_t bytes) {
    int folder_fd = open_file(folder, O_RDONLY | O_DIRECTORY, 0);
    if (folder_fd < 0) return fail_file(BRAID_ERROR_DISK, folder, "open the folder", errno);
    braid_status status = replace_in_folder(folder, path, data, bytes);
    if (status == BRAID_OK && !sync_file(folder_fd) && errno != EINVAL) /* EINVAL: this file system syncs no folders */
        status = fail_file(BRAID_ERROR_DISK, path,
                           "sync its folder (the new file is in place, but a power cut may undo it)", errno);
    table->close(folder_fd);
    return status;
}

braid_status files_replace(const char *path, const void *data, size_t bytes) {
    char *folder;
    if (!path || !*path) return fail(BRAID_ERROR_ARGUMENT, "path: expected the name of a file, got none");
    TRY(folder_of(path, &folder));
    braid_status status = replace_and_sync(folder, path, data, bytes);
    memory_free(folder);
    return status;
}

/* ---- Folders ------------------------------------------------------------------------------ */

static braid_status make_folder(const char *path) {
    struct stat info;
    if (table->mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST) return BRAID_OK;
    int error = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return BRAID_OK; /* read-only, but there */
    return fail_file(BRAID_ERROR_DISK, path, "make the folder", error);
}

/* Makes every folder on the way; cuts `path` at each slash and mends it. */
static braid_status make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        TRY(make_folder(path));
        *slash = '/';
    }
    return make_folder(path);
}

static braid_status check_private(const char *path) {
    struct stat info;
    int fd = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return fail_file(BRAID_ERROR_DISK, path, "open it as a folder that is no link", errno);
    int failed = fstat(fd, &info), error = errno;
    table->close(fd);
    if (failed) return fail_file(BRAID_ERROR_DISK, path, "look at the folder", error);
    if (info.st_uid != geteuid())
        return fail(BRAID_ERROR_DISK,
                    "%s: expected a folder of user %ld, got one of user %ld; choose another with BRAID_CACHE_DIR", path,
                    (long)geteuid(), (long)info.st_uid);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return fail(BRAID_ERROR_DISK,
                    "%s: expected a folder that only its owner may write to, got mode %04o; type: chmod go-w %s", path,
                    (unsigned)(info.st_mode & 07777), path);
    return BRAID_OK;
}

braid_status files_make_private_folder(const char *path) {
    char *copy;
    if (!path || !*path) return fail(BRAID_ERROR_ARGUMENT, "folder: expected a path, got none");
    TRY(memory_copy_text(path, &copy));
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/'; length--) copy[length - 1] = 0;
    braid_status status = make_folders(copy);
    if (status == BRAID_OK) status = check_private(copy);
    memory_free(copy);
    return status;
}

braid_status files_join(const char *folder, const char *name, char **path) {
    size_t room;
    void *memory;
    *path = NULL;
    if (!folder || !*folder || !name) return fail(BRAID_ERROR_ARGUMENT, "folder: expected a path, got none");
    const char *separator = folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (!size_add(strlen(folder), strlen(name), &room) || !size_add(room, 2, &room))
        return fail(BRAID_ERROR_MEMORY, "path: expected a length that fits in 64 bits");
    TRY(memory_alloc(room, 1, "a path", &memory));
    *path = memory;
    snprintf(*path, room, "%s%s%s", folder, separator, name);
    return BRAID_OK;
}

braid_status files_cache_folder(char **path) {
    const char *chosen = getenv("BRAID_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *path = NULL;
    if (chosen && *chosen) return memory_copy_text(chosen, path);
    if (cache && *cache == '/') return files_join(cache, "braid", path); /* a relative one is to be ignored */
    if (home && *home) return files_join(home, ".cache/braid", path);
    return fail(BRAID_ERROR_ARGUMENT,
                "cache folder: expected BRAID_CACHE_DIR, XDG_CACHE_HOME or HOME to be set, got none of them");
}
