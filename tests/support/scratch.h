/*
 * A folder for the files of one test, removed with all that is in it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_SCRATCH_H
#define BRAID_TESTS_SCRATCH_H

#include <stddef.h>

typedef struct scratch {
    char folder[64];
    char path[256]; /* what scratch_path returned last */
} scratch;

void scratch_begin(scratch *s);
void scratch_end(scratch *s);

/* folder/name; good until the next call. */
const char *scratch_path(scratch *s, const char *name);

/* Replaces the file folder/name. */
void scratch_write(scratch *s, const char *name, const void *data, size_t bytes);

/* Cuts folder/name to so many bytes. */
void scratch_cut(scratch *s, const char *name, size_t bytes);

#endif
