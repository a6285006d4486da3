/*
 * Names of temporary files. Who made a file is told by process number and start time, because numbers come again
 * soon (in a container the first process is always 1). What cannot be told from here, of another machine on a shared
 * disk, of an earlier boot, or without /proc, is judged by its age. Reading /proc does not go through the table of
 * core/files: it fails for no want of disk.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/temporaries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"

#define OLD_S 3600
#define LARGE 2000     /* entries of a folder that takes milliseconds to read */
#define REST_S 60      /* such a one is not swept again before */
#define START_FIELD 22 /* of /proc/PID/stat: clock ticks from the boot to the start of the process */

static atomic_uint name_count;

/* The beginning of a small text of /proc, "" where there is none. */
static void read_text(const char *path, char *text, size_t room) {
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = pread(fd, text, room - 1, 0);
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
}

/* When a process began, 0 where it is gone or cannot be seen. */
static unsigned long long start_of(long pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_text(path, text, sizeof text);
    char *at = strrchr(text, ')'); /* the name of the program, field 2, may hold anything */
    for (int field = 2; at && field < START_FIELD; field++) {
        at = strchr(at, ' ');
        if (at) at++;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Stands for this boot of this machine and its process numbers; 0 where that cannot be told. */
static uint32_t host(void) {
    char boot[64];
    struct stat numbers;
    read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (!*boot || stat("/proc/self/ns/pid", &numbers) != 0) return 0;
    uint32_t hash = UINT32_C(2166136261) ^ (uint32_t)numbers.st_ino; /* FNV-1a */
    for (const char *c = boot; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT32_C(16777619);
    return hash ? hash : 1;
}

void temporary_name(char name[TEMPORARY_NAME_BYTES]) {
    long pid = (long)getpid();
    snprintf(name, TEMPORARY_NAME_BYTES, ".braid.%ld.%llu.%08x.%u.tmp", pid, start_of(pid), host(),
             atomic_fetch_add(&name_count, 1));
}

/* ---- Sweeping ----------------------------------------------------------------------------- */

static bool is_temporary(const char *name) {
    size_t length = strlen(name);
    return length > 11 && !strncmp(name, ".braid.", 7) && !strcmp(name + length - 4, ".tmp");
}

/* The change time, not that of the contents: a second name for an old file is young. */
static bool is_old(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && info.st_ctime + OLD_S < time(NULL);
}

/* Is there a process with this number, though /proc does not show it (hidepid)? */
static bool is_hidden(long pid) { return getpgid((pid_t)pid) >= 0; }

/* Of a process that is there and whose beginning cannot be seen, age decides. */
static bool is_abandoned(const char *path, const char *name, uint32_t here) {
    long pid;
    unsigned long long start;
    unsigned maker;
    if (sscanf(name, ".braid.%ld.%llu.%8x.", &pid, &start, &maker) != 3 || !start || !here || maker != here)
        return is_old(path);
    unsigned long long began = start_of(pid);
    if (began == 0 && pid > 0 && is_hidden(pid)) return is_old(path);
    return began != start;
}

static braid_status sweep_entry(const char *folder, const char *name, uint32_t here, int *removed) {
    char *path;
    TRY(files_join(folder, name, &path));
    braid_status status = BRAID_OK;
    if (is_abandoned(path, name, here)) {
        status = files_remove(path);
        if (status == BRAID_OK) (*removed)++;
    }
    memory_free(path);
    return status;
}

/* The last large folder that was swept; one for the whole process. */
static struct {
    pthread_mutex_t mutex;
    dev_t device;
    ino_t folder;
    time_t until; /* on the monotonic clock */
} rest = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static time_t now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool may_rest(const struct stat *info) {
    pthread_mutex_lock(&rest.mutex);
    bool may = rest.device == info->st_dev && rest.folder == info->st_ino && now_s() < rest.until;
    pthread_mutex_unlock(&rest.mutex);
    return may;
}

static void note_large(const struct stat *info) {
    pthread_mutex_lock(&rest.mutex);
    rest.device = info->st_dev;
    rest.folder = info->st_ino;
    rest.until = now_s() + REST_S;
    pthread_mutex_unlock(&rest.mutex);
}

/* Goes on after a failure, and returns the first. */
braid_status temporaries_sweep(const char *folder, int *removed) {
    braid_status first = BRAID_OK;
    struct stat info;
    int seen = 0;
    *removed = 0;
    if (stat(folder, &info) == 0 && may_rest(&info)) return BRAID_OK;
    DIR *entries = opendir(folder);
    if (!entries && (errno == ENOENT || errno == ENOTDIR)) return BRAID_OK;
    if (!entries) return fail(BRAID_ERROR_DISK, "%s: could not list the folder", folder);
    uint32_t here = host();
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        if (++seen == LARGE && fstat(dirfd(entries), &info) == 0) note_large(&info);
        if (!is_temporary(entry->d_name)) continue;
        braid_status status = sweep_entry(folder, entry->d_name, here, removed);
        if (first == BRAID_OK) first = status;
    }
    closedir(entries);
    return first;
}
