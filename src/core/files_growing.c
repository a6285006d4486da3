/*
 * Files that grow. After a failed sync the system may have dropped what it could not write, and says so once: a second
 * sync of the same descriptor proves nothing. So what no sync has confirmed is kept, and written again to a descriptor
 * of its own. A file that is removed while it grows is made again from what the open descriptor still has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files_calls.h"
#include "core/memory.h"
#include "core/sizes.h"

#define MODE 0644
#define MOST_UNSYNCED ((size_t)1 << 20) /* bytes that are kept before a piece syncs the file itself */

void files_growing_open(files_growing *file, const char *path, size_t bytes) {
    *file = (files_growing){.path = path, .fd = -1, .bytes = bytes};
}

static void close_descriptor(files_growing *file) {
    if (file->path && file->fd >= 0) (void)files_call_close(file->fd); /* what counts is kept */
    file->fd = -1;
    file->written = 0;
}

void files_growing_close(files_growing *file) {
    close_descriptor(file);
    memory_free(file->kept);
    *file = (files_growing){.fd = -1};
}

/* A file that is shorter than we left it was cut or removed meanwhile: it goes on where it ends. */
static braid_status look_at(files_growing *file) {
    struct stat info;
    if (fstat(file->fd, &info) != 0) return files_fail(BRAID_ERROR_DISK, file->path, "look at it", errno);
    if (!S_ISREG(info.st_mode))
        return fail(BRAID_ERROR_DISK, "%s: expected a file, got a folder, a pipe or a device; move it away",
                    file->path);
    if ((size_t)info.st_size < file->bytes) file->bytes = (size_t)info.st_size;
    return BRAID_OK;
}

/* A link would lead out of the folder that we may write to, and a pipe would hold us up. */
static braid_status open_descriptor(files_growing *file) {
    if (file->fd >= 0) return BRAID_OK;
    file->written = 0;
    file->fd = files_call_open(file->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, MODE);
    if (file->fd < 0 && errno == ELOOP)
        return fail(BRAID_ERROR_DISK, "%s: expected a file, got a symbolic link, which is not followed; remove it",
                    file->path);
    if (file->fd < 0) return files_fail(BRAID_ERROR_DISK, file->path, "open", errno);
    braid_status status = look_at(file);
    if (status != BRAID_OK) close_descriptor(file);
    return status;
}

static braid_status keep(files_growing *file, const void *data, size_t bytes) {
    size_t room, whole;
    if (!size_add(file->kept_bytes, bytes, &room) || !size_add(file->bytes, room, &whole))
        return fail(BRAID_ERROR_DISK, "%s: expected a length that fits in 64 bits", file->path);
    if (room > file->kept_room) {
        void *memory;
        if (!size_mul(room, 2, &room)) return fail(BRAID_ERROR_MEMORY, "%s: expected a smaller piece", file->path);
        TRY(memory_alloc(room, 1, "what no sync has confirmed", &memory));
        if (file->kept_bytes > 0) memcpy(memory, file->kept, file->kept_bytes);
        memory_free(file->kept);
        file->kept = memory;
        file->kept_room = room;
    }
    memcpy(file->kept + file->kept_bytes, data, bytes);
    file->kept_bytes += bytes;
    return BRAID_OK;
}

/* Pieces are written whole: the next attempt overwrites what a failed one has left. */
static braid_status write_kept(files_growing *file) {
    if (file->written == file->kept_bytes) return BRAID_OK;
    TRY(open_descriptor(file));
    if (!files_call_write(file->fd, file->bytes + file->written, file->kept + file->written,
                          file->kept_bytes - file->written))
        return files_fail(BRAID_ERROR_DISK, file->path, "write", errno);
    file->written = file->kept_bytes;
    return BRAID_OK;
}

/* Was the file removed or replaced since it was opened? Where that cannot be told: no. */
static bool is_gone(const files_growing *file) {
    struct stat ours, there;
    if (fstat(file->fd, &ours) != 0) return false;
    if (lstat(file->path, &there) != 0) return errno == ENOENT;
    return ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
}

/* Gives the path all that was written again. */
static braid_status make_again(files_growing *file) {
    size_t bytes = file->bytes + file->kept_bytes, used = 0;
    void *data;
    TRY(memory_alloc(bytes + 1, 1, "a file that was removed", &data));
    braid_status status = BRAID_OK;
    if (!files_call_read(file->fd, 0, data, bytes, &used))
        status = files_fail(BRAID_ERROR_DISK, file->path, "read again what was removed", errno);
    if (status == BRAID_OK) status = files_replace(file->path, data, used);
    memory_free(data);
    if (status == BRAID_OK) close_descriptor(file);
    return status;
}

static void confirm(files_growing *file) {
    file->bytes += file->kept_bytes;
    file->kept_bytes = file->written = 0;
}

braid_status files_growing_sync(files_growing *file) {
    if (!file->path) return BRAID_OK;
    TRY(write_kept(file));
    if (file->fd < 0) return BRAID_OK; /* nothing was written */
    if (is_gone(file)) {
        TRY(make_again(file));
    } else if (!files_call_sync(file->fd)) {
        const int error = errno;
        close_descriptor(file);
        return files_fail(BRAID_ERROR_DISK, file->path, "sync", error);
    }
    confirm(file);
    return BRAID_OK;
}

braid_status files_growing_add(files_growing *file, const void *data, size_t bytes) {
    TRY(keep(file, data, bytes));
    TRY(write_kept(file));
    return file->kept_bytes < MOST_UNSYNCED ? BRAID_OK : files_growing_sync(file);
}
