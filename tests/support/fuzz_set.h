/*
 * A small data set for fuzz targets that try a whole verb: one of its files is replaced, and everything that data
 * check, predict, eval and train do with a set is done. In memory where there is such a file system, removed at the
 * end.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FUZZ_SET_H
#define BRAID_TESTS_FUZZ_SET_H

#include "tests/support/mutate.h"

/* Makes the set of this process, once; returns its folder. */
const char *fuzz_set_folder(int kind);

/* Replaces a file of the set by the bytes; with `other`, that file is removed: an image of another ending. */
void fuzz_set_put(const char *name, const char *other, const void *data, size_t bytes);

/* Checks the set and prints what was found; opens it and reads all training samples; opens a file as predict does,
 * where `file` is not NULL. Traps where anything is left, or a failure has no words. */
void fuzz_set_read(const char *file);

/* A file of the set, for a seed: memory that is never freed. */
mutate_seed fuzz_set_seed(int kind, const char *name);

#endif
