/*
 * What a disk may hold when the power goes after any call of a log (tests/support/disk_log.h): a model that lets
 * everything happen which the file system does not rule out.
 *
 * | what was not synced | ext4, data=ordered | ext2 |
 * |---|---|---|
 * | names: made, linked, renamed, removed | the first so many changes, in order | each name by itself, either way |
 * | length of a file | any that it had | any that it had, and a file that is not there |
 * | data, in sectors of 512 bytes | new, old, or zeros where there was nothing | also what another file had |
 * | a file whose last name went | as it was | also gone, or with what another file has |
 *
 * A sync of a file brings its data and length; in ext4 also the names as far as they have to do with it. A sync of a
 * folder brings the names in it. What was not synced may get there at any time, all of it or a part. A sync that fails
 * makes the system forget data that it had to bring: later syncs do not bring it, until its page is written again. One
 * that lies does nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_DISK_H
#define BRAID_TESTS_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/disk_log.h"

typedef enum disk_kind { DISK_EXT4, DISK_EXT2 } disk_kind;

/* Which syncs do nothing and say that they did. */
typedef enum disk_lies { DISK_HONEST, DISK_LIES_AT_TIMES, DISK_LIES_OF_FILES, DISK_LIES_OF_FOLDERS } disk_lies;

typedef struct disk_cut {
    disk_kind kind;
    disk_lies lies;
    int calls;       /* the power goes after so many calls of the log */
    uint64_t seed;   /* draws what got to the disk of what the calls had not synced */
    bool everything; /* all of it did */
} disk_cut;

/* Writes what the disk holds into the working folder, which is empty. Returns a number that is the same for the same
 * tree. */
uint64_t disk_write(const disk_log *log, const disk_cut *cut);

/* The number of the tree in the working folder. */
uint64_t disk_tree(void);

/* Empties the working folder. */
void disk_clear(void);

#endif
