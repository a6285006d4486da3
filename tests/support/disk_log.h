/*
 * Writes down every file call of the library that changes a disk, with its data and in order, and the promises of the
 * program between them. tests/support/disk.h says what a disk may hold when the power goes after any of these calls.
 *
 *     disk_log *log = disk_log_create();
 *     if (fork() == 0) {
 *         disk_log_start(log, &(disk_faults){0});
 *         ...                                                  // work; disk_log_promise(log, step)
 *         _exit(0);
 *     }
 *     waitpid(...);                                            // then read log->calls
 *
 * The memory of a log is shared with children, so that the process that works can be gone when its log is read: what it
 * left is then swept as a dead process's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_DISK_LOG_H
#define BRAID_TESTS_DISK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum disk_call_kind {
    DISK_FOUND, /* was there at the start: a file with its data, or a folder (data is NULL) */
    DISK_OPEN,
    DISK_CLOSE,
    DISK_WRITE,
    DISK_SYNC,
    DISK_RENAME,
    DISK_LINK,
    DISK_UNLINK,
    DISK_MKDIR,
    DISK_PROMISE, /* the program said that a step is saved */
} disk_call_kind;

/* One that succeeded; a sync may have failed. */
typedef struct disk_call {
    disk_call_kind kind;
    int fd;           /* of OPEN, CLOSE, WRITE, SYNC */
    bool is_new;      /* OPEN made the file */
    bool failed;      /* SYNC */
    int64_t number;   /* the offset of WRITE, the step of PROMISE */
    const char *path; /* of FOUND, OPEN, RENAME, LINK, UNLINK, MKDIR */
    const char *to;   /* of RENAME, LINK */
    const char *data; /* of FOUND, WRITE */
    size_t bytes;
} disk_call;

typedef struct disk_log disk_log;

typedef struct disk_faults {
    int failing_sync;   /* this one fails with EIO, 1 being the first; 0: none */
    bool spare_folders; /* their syncs do not count, and never fail */
    bool no_links;      /* the file system has no second names */
} disk_faults;

/* Aborts the process where there is no memory, and so does a log that is full. */
disk_log *disk_log_create(void);
void disk_log_destroy(disk_log *log);

/* Begins anew: notes what the working folder holds, and sets the table of core/files for good. Of relative paths. */
void disk_log_start(disk_log *log, const disk_faults *faults);
void disk_log_promise(disk_log *log, int64_t step);

int disk_log_count(const disk_log *log);
const disk_call *disk_log_at(const disk_log *log, int index);

/* Calls of a kind. */
int disk_log_count_of(const disk_log *log, disk_call_kind kind);

/* A line about each of the first `end` calls, on stderr. */
void disk_log_print(const disk_log *log, int end);

#endif
