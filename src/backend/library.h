/*
 * Libraries that are found at run time: opened with dlopen, once per process, and never closed,
 * because kernels, threads and JIT-compiled code of theirs may live on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_LIBRARY_H
#define BRAID_BACKEND_LIBRARY_H

#include <stddef.h>

/* Opens the first of `names` (ends at NULL) that the loader accepts. Each name is looked for in the
 * folders of $BRAID_LIBRARY_PATH (joined by ':') by its last part, and then as it stands: a path, or
 * a soname for the loader to find. NULL where there is none. */
void *library_open(const char *const *names);

/* Stores the address of a symbol in *function, a pointer to a function. False where the library has no such symbol. */
int library_symbol(void *handle, const char *name, void *function);

/* The file behind a handle, links resolved. False where the loader does not say or `file` is too short. */
int library_file(void *handle, char *file, size_t bytes);

#endif
