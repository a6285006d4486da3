/*
 * Files, read whole and replaced atomically. The table holds every call that can fail for want of disk; what only asks
 * about a file stays outside. Linux closes a descriptor even when close() is interrupted, so close is never repeated.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files_calls.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/temporaries.h"
#include "core/within.h"

#define MAX_INTERRUPTS 100 /* in a row, before a call counts as failed */
#define MAX_NAMES 100      /* temporaries of crashed processes to step over */
#define FIRST_READ 4096    /* files of /proc and /sys do not tell their size */
#define FILE_MODE 0644
#define FOR_READING (O_RDONLY | O_NONBLOCK | O_NOCTTY) /* a pipe must not hold us up */
#define FOLDER_MODE 0777
#define PRIVATE_FOLDER_MODE 0700

static int system_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }

static int system_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

static const files_table system_table = {system_open, pread,        pwrite, fsync, close,  rename,
                                         unlink,      system_mkdir, link,   flock, statvfs};
static const files_table *table = &system_table;

void files_set_table(const files_table *replacement) { table = replacement ? replacement : &system_table; }

/* Of this thread: a call failed for a reason that is not the file's own. */
static _Thread_local bool had_fault;

void files_forget_fault(void) { had_fault = false; }

bool files_had_fault(void) { return had_fault; }

/* Is it the path itself that is wrong? */
static bool is_of_path(int error) {
    return error == ENOENT || error == ENOTDIR || error == EISDIR || error == ELOOP || error == ENAMETOOLONG ||
           error == ENXIO;
}

braid_status files_fail(braid_status code, const char *path, const char *action, int error) {
    had_fault |= !is_of_path(error);
    return fail(code, "%s: could not %s: %s", path, action, fail_reason(error));
}

int files_call_open(const char *path, int flags, unsigned mode) {
    int fd = -1;
    for (int tries = 0; tries < MAX_INTERRUPTS && fd < 0; tries++) {
        fd = table->open(path, flags | O_CLOEXEC, mode);
        if (fd < 0 && errno != EINTR) break;
    }
    return fd;
}

/* ---- Reading ------------------------------------------------------------------------------ */

bool files_call_read(int fd, size_t offset, char *data, size_t room, size_t *used) {
    int interrupts = 0;
    while (*used < room) {
        ssize_t got = table->pread(fd, data + *used, room - *used, (off_t)(offset + *used));
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
        if (!files_call_read(fd, 0, *data, room, used)) return files_fail(code, path, "read", errno);
        if (*used > limit) return fail(code, "%s: expected a file of at most %zu bytes, got a larger one", path, limit);
        if (*used < room || room == most) return BRAID_OK;
        if (!size_mul(room, 2, &room)) room = most;
    }
}

/* For reading, what is only found so far. */
static braid_status open_found(files_input *in) {
    char name[WITHIN_NAME];
    int fd = files_call_open(within_name(in->fd, in->path, name), FOR_READING, 0);
    if (fd < 0) return files_fail(in->code, in->path, "open", errno);
    table->close(in->fd);
    in->fd = fd;
    return BRAID_OK;
}

static braid_status look_at_input(files_input *in, const char *root) {
    struct stat info;
    TRY(within_check(root, in->fd, in->path, in->code));
    if (fstat(in->fd, &info) != 0) return files_fail(in->code, in->path, "read", errno);
    if (!S_ISREG(info.st_mode)) return fail(in->code, "%s: expected a file, got a folder or a device", in->path);
    in->bytes = (size_t)info.st_size;
    return root ? open_found(in) : BRAID_OK;
}

braid_status files_input_open_within(files_input *in, const char *root, const char *path, braid_status code) {
    *in = (files_input){.fd = -1, .code = code};
    in->fd = files_call_open(path, root ? O_PATH : FOR_READING, 0); /* outside of the root, opening alone may do harm */
    if (in->fd < 0) return files_fail(code, path, "open", errno);
    in->path = path;
    braid_status status = look_at_input(in, root);
    if (status != BRAID_OK) files_input_close(in);
    return status;
}

braid_status files_input_read(const files_input *in, size_t offset, void *data, size_t bytes) {
    size_t used = 0, end;
    if (!size_add(offset, bytes, &end) || end > in->bytes)
        return fail(in->code, "%s: expected %zu bytes after byte %zu, got a file of %zu bytes", in->path, bytes, offset,
                    in->bytes);
    if (!files_call_read(in->fd, offset, data, bytes, &used)) return files_fail(in->code, in->path, "read", errno);
    if (used < bytes)
        return fail(in->code, "%s: expected %zu bytes after byte %zu, got %zu; the file was cut while it was read",
                    in->path, bytes, offset, used);
    return BRAID_OK;
}

void files_input_close(files_input *in) {
    if (in->path && in->fd >= 0) table->close(in->fd); /* nothing was written: nothing to lose */
    in->path = NULL;
    in->fd = -1;
}

braid_status files_read_within(const char *root, const char *path, size_t limit, braid_status code, char **data,
                               size_t *bytes) {
    files_input in;
    size_t used = 0;
    *data = NULL;
    *bytes = 0;
    TRY(files_input_open_within(&in, root, path, code));
    size_t expected = in.bytes < FIRST_READ ? FIRST_READ : in.bytes + 1;
    braid_status status = read_all(in.fd, path, expected, limit, code, data, &used);
    files_input_close(&in);
    if (status != BRAID_OK) {
        memory_free(*data);
        *data = NULL;
        return status;
    }
    (*data)[used] = 0;
    *bytes = used;
    return BRAID_OK;
}

/* ---- Replacing ---------------------------------------------------------------------------- */

bool files_call_write(int fd, size_t offset, const char *data, size_t bytes) {
    int interrupts = 0;
    while (bytes > 0) {
        ssize_t put = table->pwrite(fd, data, bytes, (off_t)offset);
        if (put > 0) {
            data += put;
            offset += (size_t)put;
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

bool files_call_sync(int fd) {
    for (int tries = 0; tries < MAX_INTERRUPTS; tries++) {
        if (table->fsync(fd) == 0) return true;
        if (errno != EINTR) return false;
    }
    return false;
}

bool files_call_close(int fd) { return table->close(fd) == 0 || errno == EINTR; }

static bool sync_folder(int fd) {
    return files_call_sync(fd) || errno == EINVAL;
} /* EINVAL: no folders are synced here */

static bool unlink_file(const char *path) {
    for (int tries = 0; tries < MAX_INTERRUPTS; tries++) {
        if (table->unlink(path) == 0 || errno == ENOENT) return true;
        if (errno != EINTR) return false;
    }
    return false;
}

/* Opens a new file in the folder. *name is for memory_free, on success only. */
static braid_status open_temporary(const char *folder, const char *path, char **name, int *fd) {
    for (int tries = 0; tries < MAX_NAMES; tries++) {
        char base[TEMPORARY_NAME_BYTES];
        temporary_name(base);
        TRY(files_join(folder, base, name));
        *fd = files_call_open(*name, O_WRONLY | O_CREAT | O_EXCL, FILE_MODE);
        if (*fd >= 0) return BRAID_OK;
        int error = errno;
        memory_free(*name);
        *name = NULL;
        if (error != EEXIST) return files_fail(BRAID_ERROR_DISK, path, "create a temporary file beside it", error);
    }
    return fail(BRAID_ERROR_DISK, "%s: expected a free temporary name, got %d in use; remove %s/.braid.*.tmp", path,
                MAX_NAMES, folder);
}

/* The folder part of a path, "." where it has none. Returns memory for memory_free. */
static braid_status folder_of(const char *path, char **folder) {
    const char *slash = strrchr(path, '/');
    if (!slash) return memory_copy_text(".", folder);
    TRY(memory_copy_text(path, folder));
    (*folder)[slash == path ? 1 : slash - path] = 0;
    return BRAID_OK;
}

/* The folder is opened first, so that only its sync can fail once the new file is in place. What killed processes left
 * in it is removed on the way; where the disk refuses that, it stays. */
static braid_status open_output(files_output *out) {
    int removed;
    TRY(folder_of(out->path, &out->folder));
    const fail_kept kept = fail_keep();
    braid_status status = temporaries_sweep(out->folder, &removed);
    if (status == BRAID_ERROR_MEMORY) return status;
    if (status != BRAID_OK) fail_put_back(&kept);
    out->folder_fd = files_call_open(out->folder, O_RDONLY | O_DIRECTORY, 0);
    if (out->folder_fd < 0) return files_fail(BRAID_ERROR_DISK, out->folder, "open the folder", errno);
    return open_temporary(out->folder, out->path, &out->temporary, &out->fd);
}

static void release_output(files_output *out) {
    if (out->folder_fd >= 0) table->close(out->folder_fd);
    memory_free(out->temporary);
    memory_free(out->folder);
    *out = (files_output){.fd = -1, .folder_fd = -1};
}

braid_status files_output_begin(files_output *out, const char *path) {
    *out = (files_output){.path = path, .fd = -1, .folder_fd = -1};
    struct stat info;
    if (!path || !*path) return fail(BRAID_ERROR_ARGUMENT, "path: expected the name of a file, got none");
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return fail(BRAID_ERROR_DISK, "%s: expected a file or nothing to replace, got a folder or a device", path);
    braid_status status = open_output(out);
    if (status != BRAID_OK) release_output(out);
    return status;
}

braid_status files_output_write(files_output *out, size_t offset, const void *data, size_t bytes) {
    if (files_call_write(out->fd, offset, data, bytes)) return BRAID_OK;
    return files_fail(BRAID_ERROR_DISK, out->path, "write", errno);
}

/* Syncs and closes the temporary (in any case), and gives it its name. */
static braid_status close_and_rename(files_output *out, braid_status status) {
    if (status == BRAID_OK && !files_call_sync(out->fd))
        status = files_fail(BRAID_ERROR_DISK, out->path, "sync", errno);
    if (!files_call_close(out->fd) && status == BRAID_OK)
        status = files_fail(BRAID_ERROR_DISK, out->path, "close", errno);
    if (status == BRAID_OK && table->rename(out->temporary, out->path) != 0)
        status = files_fail(BRAID_ERROR_DISK, out->path, "rename the temporary file to", errno);
    return status;
}

braid_status files_output_end(files_output *out, braid_status status) {
    status = close_and_rename(out, status);
    if (status != BRAID_OK) unlink_file(out->temporary);
    if (status == BRAID_OK && !sync_folder(out->folder_fd))
        status = files_fail(BRAID_ERROR_DISK, out->path,
                            "sync its folder (the new file is in place, but a power cut may undo it)", errno);
    release_output(out);
    return status;
}

braid_status files_replace(const char *path, const void *data, size_t bytes) {
    files_output out;
    TRY(files_output_begin(&out, path));
    return files_output_end(&out, files_output_write(&out, 0, data, bytes));
}

/* ---- Names -------------------------------------------------------------------------------- */

static braid_status sync_folder_of(const char *path) {
    char *folder;
    TRY(folder_of(path, &folder));
    int fd = files_call_open(folder, O_RDONLY | O_DIRECTORY, 0);
    bool synced = fd >= 0 && sync_folder(fd);
    int error = errno;
    if (fd >= 0) table->close(fd);
    memory_free(folder);
    return synced ? BRAID_OK : files_fail(BRAID_ERROR_DISK, path, "sync its folder", error);
}

braid_status files_remove(const char *path) {
    return unlink_file(path) ? BRAID_OK : files_fail(BRAID_ERROR_DISK, path, "remove", errno);
}

braid_status files_rename(const char *from, const char *to) {
    if (table->rename(from, to) != 0) return files_fail(BRAID_ERROR_DISK, from, "rename", errno);
    return sync_folder_of(to);
}

braid_status files_link_aside(const char *path, char **aside, bool *refused) {
    char *folder, base[TEMPORARY_NAME_BYTES];
    int error = EEXIST;
    *aside = NULL;
    *refused = false;
    TRY(folder_of(path, &folder));
    for (int tries = 0; tries < MAX_NAMES && (error == EEXIST || error == EINTR); tries++) {
        temporary_name(base);
        memory_free(*aside);
        braid_status status = files_join(folder, base, aside);
        error = status != BRAID_OK ? ENOMEM : table->link(path, *aside) == 0 ? 0 : errno;
    }
    memory_free(folder);
    if (error == 0) return BRAID_OK;
    bool no_memory = !*aside;
    memory_free(*aside);
    *aside = NULL;
    if (no_memory) return BRAID_ERROR_MEMORY;
    *refused = error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
    if (*refused || error == ENOENT) return BRAID_OK;
    return files_fail(BRAID_ERROR_DISK, path, "give it a second name", error);
}

braid_status files_write(const char *path, const void *data, size_t bytes) {
    int fd = files_call_open(path, O_WRONLY | O_CREAT | O_TRUNC, FILE_MODE);
    if (fd < 0) return files_fail(BRAID_ERROR_DISK, path, "create", errno);
    bool written = files_call_write(fd, 0, data, bytes);
    int error = errno;
    if (!files_call_close(fd) && written) {
        written = false;
        error = errno;
    }
    return written ? BRAID_OK : files_fail(BRAID_ERROR_DISK, path, "write", error);
}

/* ---- Room --------------------------------------------------------------------------------- */

braid_status files_need_room(const char *folder, size_t bytes, const char *what) {
    const double mib = 1 << 20;
    struct statvfs info;
    if (table->statvfs(folder, &info) != 0 || info.f_blocks == 0) return BRAID_OK;
    double room = (double)info.f_bavail * (double)info.f_frsize;
    if (room >= (double)bytes) return BRAID_OK;
    return fail(BRAID_ERROR_DISK, "%s: expected %.1f MiB free for %s, got %.1f MiB; make room, or take another folder",
                folder, (double)bytes / mib, what, room / mib);
}

/* ---- Folders ------------------------------------------------------------------------------ */

static braid_status make_folder(const char *path, unsigned mode, int *made) {
    struct stat info;
    if (table->mkdir(path, mode) == 0) {
        braid_status status = sync_folder_of(path); /* else a power cut takes it with all that is synced in it */
        *made += status == BRAID_OK;
        if (status != BRAID_OK) (void)rmdir(path);
        return status;
    }
    if (errno == EEXIST) return BRAID_OK;
    int error = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return BRAID_OK; /* read-only, but there */
    return files_fail(BRAID_ERROR_DISK, path, "make the folder", error);
}

/* Makes every folder on the way, and counts them; cuts `path` at each slash and mends it. */
static braid_status make_folders(char *path, unsigned mode, int *made) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        TRY(make_folder(path, mode, made));
        *slash = '/';
    }
    return make_folder(path, mode, made);
}

braid_status files_check_private(const char *path) {
    struct stat info;
    int fd = files_call_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return files_fail(BRAID_ERROR_DISK, path, "open it as a folder that is no link", errno);
    int failed = fstat(fd, &info), error = errno;
    table->close(fd);
    if (failed) return files_fail(BRAID_ERROR_DISK, path, "look at the folder", error);
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

static void cut_slashes(char *path) {
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--) path[length - 1] = 0;
}

/* Removes so many folders, the innermost first, as long as they are there and empty; cuts `path`. */
static void remove_folders(char *path, int count) {
    while (count > 0) {
        cut_slashes(path);
        if (rmdir(path) == 0)
            count--;
        else if (errno != EINVAL) /* "a/." */
            break;
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) break;
        *slash = 0;
    }
}

/* Makes the folder and its parents, all or none; where asked, refuses one that is not private. */
static braid_status make_and_check(const char *path, unsigned mode, bool is_private, int *made) {
    char *copy;
    int count = 0;
    if (made) *made = 0;
    if (!path || !*path) return fail(BRAID_ERROR_ARGUMENT, "folder: expected a path, got none");
    TRY(memory_copy_text(path, &copy));
    cut_slashes(copy);
    braid_status status = make_folders(copy, mode, &count);
    char *slash = status ? strrchr(copy, '/') : NULL; /* behind it is what could not be made */
    if (slash && count) {
        *slash = 0;
        remove_folders(copy, count);
    }
    if (made) *made = status ? 0 : count;
    if (status == BRAID_OK && is_private) status = files_check_private(copy);
    memory_free(copy);
    return status;
}

braid_status files_make_private_folder(const char *path) {
    return make_and_check(path, PRIVATE_FOLDER_MODE, true, NULL);
}

braid_status files_make_folder(const char *path, int *made) { return make_and_check(path, FOLDER_MODE, false, made); }

void files_unmake_folder(const char *path, int made) {
    char *copy;
    const fail_kept kept = fail_keep();
    if (made == 0) return;
    if (memory_copy_text(path, &copy) != BRAID_OK) { /* then it stays */
        fail_put_back(&kept);
        return;
    }
    remove_folders(copy, made);
    memory_free(copy);
}

/* 0, or why not. */
static int take_lock(int fd) {
    for (int tries = 0; tries < MAX_INTERRUPTS; tries++) {
        if (table->flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EINTR) return errno;
    }
    return EINTR;
}

braid_status files_lock_folder(files_lock *lock, const char *path) {
    *lock = (files_lock){.fd = -1};
    int fd = files_call_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return files_fail(BRAID_ERROR_DISK, path, "open the folder", errno);
    int error = take_lock(fd);
    if (error == 0) {
        *lock = (files_lock){.held = true, .fd = fd};
        return BRAID_OK;
    }
    table->close(fd);
    if (error != EWOULDBLOCK) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "%.200s: expected a folder that nobody works in, got one that is in use", path);
}

bool files_lock_is_of(const files_lock *lock, const char *path) {
    struct stat locked, there;
    if (!lock->held || fstat(lock->fd, &locked) != 0) return true;
    if (stat(path, &there) != 0) return errno != ENOENT && errno != ENOTDIR;
    return locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
}

void files_unlock(files_lock *lock) {
    if (lock->held) table->close(lock->fd);
    *lock = (files_lock){.fd = -1};
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
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *path = NULL;
    if (cache && *cache == '/') return files_join(cache, "braid", path); /* a relative one is to be ignored */
    if (home && *home) return files_join(home, ".cache/braid", path);
    return fail(BRAID_ERROR_ARGUMENT,
                "cache folder: expected XDG_CACHE_HOME or HOME to be set, or BRAID_CACHE_DIR, got none of them");
}
