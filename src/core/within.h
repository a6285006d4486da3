/*
 * Folders that nothing leads out of. A data set may come from anybody, and a link in it that points elsewhere would
 * have us read what its maker chose. A descriptor is asked where it really is, so that nothing can be changed between
 * the question and the answer; and it is one that opens nothing, for to open a device or a pipe can set it off.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_WITHIN_H
#define BRAID_CORE_WITHIN_H

#include "core/status.h"

/* A folder's own path, free of links. Returns memory for memory_free. */
braid_status within_root(const char *folder, char **root);

/* Refuses, with `code`, the file or folder that is open as `fd` by this path, where it does not lie in the root; the
 * message names the link and where it leads. A root of NULL refuses nothing. */
braid_status within_check(const char *root, int fd, const char *path, braid_status code);

/* By what path to open the very file that a descriptor of O_PATH is for, which opens nothing and is enough to ask; on a
 * system without /proc by the one that was given. Good as long as both are. */
#define WITHIN_NAME 32
const char *within_name(int fd, const char *path, char name[WITHIN_NAME]);

#endif
