/*
 * The calls of core/files that repeat what was interrupted or cut short, by way of its table. For core/files*.c alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_FILES_CALLS_H
#define BRAID_CORE_FILES_CALLS_H

#include "core/files.h"

/* Says that a file could not be opened, written, ... for the reason of an errno. */
braid_status files_fail(braid_status code, const char *path, const char *action, int error);

/* As open() and O_CLOEXEC: -1 with errno. */
int files_call_open(const char *path, int flags, unsigned mode);

/* Fills data from `offset` of the file until `room` bytes or the end of the file; begins behind *used. False with
 * errno. */
bool files_call_read(int fd, size_t offset, char *data, size_t room, size_t *used);

/* False with errno. */
bool files_call_write(int fd, size_t offset, const char *data, size_t bytes);
bool files_call_sync(int fd);

/* After a successful sync an interrupted close has lost nothing. False with errno. */
bool files_call_close(int fd);

#endif
