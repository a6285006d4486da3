/*
 * Two generations of a file that must not be lost: the newest, FOLDER/last.safetensors, and the one before it,
 * FOLDER/last.previous.safetensors. A save that fails or is killed at any moment leaves the newest as it was or as it
 * was to become; a file that was damaged later is found by checking, and the other generation is there. The newest is
 * never missing while it is replaced, where the file system has hard links.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_GENERATIONS_H
#define BRAID_TRAIN_GENERATIONS_H

#include <stdbool.h>

#include "core/status.h"

/* Says whether a file is whole: BRAID_OK, or BRAID_ERROR_MODEL or BRAID_ERROR_DATA with a message where it is
 * damaged. Any other status (no memory) says nothing about the file and is handed on. */
typedef braid_status generations_check(const char *path, void *user);

/* Writes a file as files_replace does: whole or not at all. */
typedef braid_status generations_write(const char *path, void *user);

typedef struct generations {
    char *newest, *previous; /* paths */
    generations_check *check;
    void *user;
    bool known_good; /* the newest is whole: it was checked, or we wrote it */
} generations;

/* Of the file `name` in a folder. Removes what killed processes left there; a failure to do so is none of this. */
braid_status generations_open(generations *g, const char *folder, const char *name, generations_check *check,
                              void *user);
void generations_close(generations *g);

/*
 * The newest generation that is whole, borrowed from g; NULL: there is none at all. *fell_back: it is the older one,
 * and braid_message says why. Where there are files and none is whole, that is BRAID_ERROR_MODEL.
 */
braid_status generations_find(generations *g, const char **path, bool *fell_back);

/*
 * Writes a new generation; the newest becomes the previous one, but never a damaged one. On failure
 * the newest is as it was, or the new one is in place and the message says so.
 */
braid_status generations_save(generations *g, generations_write *put, void *user);

#endif
