/*
 * Files. Every system call that reads or writes goes through one table, which tests replace to make
 * the Nth call fail. A file is replaced whole or not at all: temporary name in the same folder,
 * sync, rename, sync of the folder.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_FILES_H
#define BRAID_CORE_FILES_H

#include <stdbool.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "core/status.h"

typedef struct files_table {
    int (*open)(const char *path, int flags, unsigned mode);
    ssize_t (*pread)(int fd, void *data, size_t bytes, off_t offset);
    ssize_t (*pwrite)(int fd, const void *data, size_t bytes, off_t offset);
    int (*fsync)(int fd);
    int (*close)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*mkdir)(const char *path, unsigned mode);
    int (*link)(const char *from, const char *to);
    int (*flock)(int fd, int operation);
    int (*statvfs)(const char *path, struct statvfs *info);
} files_table;

/* The table of the whole process; NULL restores the system's. For tests. */
void files_set_table(const files_table *table);

/* Has a call of these failed in this thread, since it was forgotten, for a reason that is not the file's own, such as
 * too many open files or a disk that does not answer? A file that is not there is no such reason. */
void files_forget_fault(void);
bool files_had_fault(void);

/* A file that the system does not let us read is not a damaged one: where there was such a fault, a failure of
 * BRAID_ERROR_MODEL or BRAID_ERROR_DATA becomes BRAID_ERROR_DISK, with its message. */
static inline braid_status files_blame_system(braid_status status) {
    if ((status != BRAID_ERROR_MODEL && status != BRAID_ERROR_DATA) || !files_had_fault()) return status;
    const fail_kept why = fail_keep();
    return fail(BRAID_ERROR_DISK, "%s", why.text);
}

/* Reads a whole file of at most `limit` bytes, which must lie in `root` (core/within.h; NULL: anywhere), and adds a
 * zero byte behind it. `code` is the status of a failure. Returns memory for memory_free. */
braid_status files_read_within(const char *root, const char *path, size_t limit, braid_status code, char **data,
                               size_t *bytes);

/* The same of a file that may lie anywhere. */
static inline braid_status files_read(const char *path, size_t limit, braid_status code, char **data, size_t *bytes) {
    return files_read_within(NULL, path, limit, code, data, bytes);
}

/* Replaces a file atomically, mode 0644 less the umask. Retries interrupted and short writes; on failure the old
 * file stays and no temporary is left. One failure comes later: when the folder cannot be synced, the new file is in
 * place, and the message says so. Temporaries of dead processes in the folder are swept. */
braid_status files_replace(const char *path, const void *data, size_t bytes);

/* A file that is read in pieces. Borrows the path until it is closed. */
typedef struct files_input {
    const char *path; /* NULL: not open, whatever the descriptor is */
    int fd;
    size_t bytes;      /* of the whole file when it was opened */
    braid_status code; /* of a failure */
} files_input;

braid_status files_input_open_within(files_input *in, const char *root, const char *path, braid_status code);
static inline braid_status files_input_open(files_input *in, const char *path, braid_status code) {
    return files_input_open_within(in, NULL, path, code);
}

/* Exactly `bytes` bytes from `offset` on; a file that ends before them is a failure. */
braid_status files_input_read(const files_input *in, size_t offset, void *data, size_t bytes);
void files_input_close(files_input *in); /* one that is zeroed, closed or was not opened is fine */

/* A file that is replaced piece by piece, as files_replace does it. Borrows the path until the end. */
typedef struct files_output {
    const char *path;
    char *folder, *temporary;
    int fd, folder_fd;
} files_output;

/* Opens the temporary; then files_output_end must be called once, whatever happens between. */
braid_status files_output_begin(files_output *out, const char *path);
braid_status files_output_write(files_output *out, size_t offset, const void *data, size_t bytes);

/* Gives the temporary its name if `status` is BRAID_OK, else removes it. Returns `status` or the first failure. */
braid_status files_output_end(files_output *out, braid_status status);

/* A file that grows piece by piece, and is made with the first of them. What no sync has confirmed is kept: a piece
 * that the disk refuses goes in front of the next one or with the next sync, and after a failed sync all since the last
 * good one is written again. No link is followed. A file that is removed or replaced is there again, whole, after the
 * next sync. Borrows the path until it is closed. */
typedef struct files_growing {
    const char *path;
    int fd;       /* -1: not open */
    size_t bytes; /* that a sync has confirmed */
    char *kept;   /* pieces behind them */
    size_t kept_bytes, kept_room;
    size_t written; /* of the kept bytes, to this descriptor */
} files_growing;

/* A file, there or not, to go on with behind its first `bytes` bytes. Nothing is touched before the first piece. */
void files_growing_open(files_growing *file, const char *path, size_t bytes);
braid_status files_growing_add(files_growing *file, const void *data, size_t bytes);
braid_status files_growing_sync(files_growing *file);
void files_growing_close(files_growing *file); /* one that is zeroed, or closed, is fine */

/* Removes a file; one that is not there is fine. */
braid_status files_remove(const char *path);

/* Gives a file another name within its folder, in place of what has that name. On failure of the sync that ends it, the
 * file has its new name. */
braid_status files_rename(const char *from, const char *to);

/* Gives a file a second name, a temporary one in its folder. *aside is for memory_free; NULL: there is no such file,
 * or, where *refused says so, the file system has no second names. */
braid_status files_link_aside(const char *path, char **aside, bool *refused);

/* Writes a file in place and does not sync: for one of thousands that can all be made again. On failure the file may be
 * cut short. */
braid_status files_write(const char *path, const void *data, size_t bytes);

/* Makes a folder and its parents if missing, as far as the umask allows; where one cannot be made, none stays. *made
 * (may be NULL): how many of them it made. */
braid_status files_make_folder(const char *path, int *made);

/* Removes so many folders again, the folder first and then upwards, as long as they are there and empty. */
void files_unmake_folder(const char *path, int made);

/* Refuses (BRAID_ERROR_DISK) a folder whose file system has less than `bytes` free, and says so of `what`. Where that
 * cannot be told there is nothing to refuse. */
braid_status files_need_room(const char *folder, size_t bytes, const char *what);

/* A folder that one owner at a time works in. The lock is that of flock on the folder itself: it leaves no file, and
 * goes with the process, however that ends. */
typedef struct files_lock {
    bool held;
    int fd;
} files_lock;

/* Locks a folder at once or, where another process or another lock of this one has it, fails with
 * BRAID_ERROR_ARGUMENT. Where the file system has no locks, nothing is locked, and that is no failure. */
braid_status files_lock_folder(files_lock *lock, const char *path);

/* Does the path lead to the folder that is locked? Not where that was moved or removed since. Of a folder that could
 * not be locked, and of one that does not answer, nothing else is known: yes. */
bool files_lock_is_of(const files_lock *lock, const char *path);
void files_unlock(files_lock *lock); /* one that is zeroed, or unlocked, is fine */

/* Makes a private folder (0700) and its parents if missing. Refuses one that others may write to, or not ours. */
braid_status files_make_private_folder(const char *path);

/* Refuses a folder that is a link, that others may write to, or that is not ours: nothing in it is to be believed. */
braid_status files_check_private(const char *path);

/* folder + "/" + name. Returns memory for memory_free. */
braid_status files_join(const char *folder, const char *name, char **path);

/* $XDG_CACHE_HOME/braid, else ~/.cache/braid. Returns memory for memory_free. */
braid_status files_cache_folder(char **path);

#endif
