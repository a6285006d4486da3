/*
 * Writing a result to a file: whole or not at all, by way of a temporary name in the same folder.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/status.h"
#include "report/lab.h"

static braid_status disk_error(const char *what, const char *path, int error) {
    return lab_fail(BRAID_ERROR_DISK, "%s %s: %s", what, path, fail_reason(error));
}

static int write_all(int fd, const char *text, size_t bytes) {
    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        text += written;
        bytes -= (size_t)written;
    }
    return fsync(fd);
}

static braid_status save(const char *temporary, const char *path, const char *text) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return lab_fail(BRAID_ERROR_DISK, "%s: expected a file or nothing to replace, got a folder or a device", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return disk_error("cannot create", temporary, errno);
    int failed = write_all(fd, text, strlen(text)) != 0, error = errno;
    if (close(fd) != 0 && !failed) {
        failed = 1;
        error = errno;
    }
    if (!failed && rename(temporary, path) != 0) {
        failed = 1;
        error = errno;
    }
    if (!failed) return BRAID_OK;
    unlink(temporary);
    return disk_error("cannot write", path, error);
}

/* Makes a folder and its missing parents. */
static braid_status make_folder(const char *folder) {
    char *path = NULL;
    LAB_TRY(lab_copy_text(folder, &path));
    braid_status status = BRAID_OK;
    for (char *slash = path; slash && !status;) {
        slash = strchr(slash + 1, '/');
        if (slash) *slash = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) status = disk_error("cannot make the folder", path, errno);
        if (slash) *slash = '/';
    }
    free(path);
    return status;
}

braid_status braid_text_save(const char *folder, const char *name, const char *text) {
    char *path = NULL, *temporary = NULL;
    if (!folder || !name || !text)
        return lab_fail(BRAID_ERROR_ARGUMENT, "braid_text_save: expected a folder, a name and a text, got NULL");
    LAB_TRY(make_folder(folder));
    braid_status status = BRAID_OK;
    if (asprintf(&path, "%s/%s", folder, name) < 0) path = NULL;
    if (asprintf(&temporary, "%s/.%s.%ld", folder, name, (long)getpid()) < 0) temporary = NULL;
    if (!path || !temporary)
        status = lab_fail(BRAID_ERROR_MEMORY, "no memory for the path of %s", name);
    else
        status = save(temporary, path, text);
    free(path);
    free(temporary);
    return status;
}
