/*
 * A file for readers that take a name: in memory where there is such a file system, removed at the end of the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FUZZ_FILE_H
#define BRAID_TESTS_FUZZ_FILE_H

#include <stddef.h>

/* The path of a file of this process; a second one has another `ending`. Good for ever. */
const char *fuzz_file_path(const char *ending);

/* Writes the file, and traps where that fails. */
void fuzz_file_write(const char *path, const void *data, size_t bytes);

#endif
