/*
 * Libraries that are found at run time: opened with dlopen, once per process, and never closed,
 * because kernels, threads and JIT-compiled code of theirs may live on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_LIBRARY_H
#define BRAID_BACKEND_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Opens the first of `names` (ends at NULL) that the loader accepts. Each name is looked for in the
 * folders of $BRAID_LIBRARY_PATH (joined by ':') by its last part, and then as it stands: a path, or
 * a soname for the loader to find. NULL where there is none. */
void *library_open(const char *const *names);

/* The same for a library of CUDA, which need not lie on the loader's path. After that come the folders of the toolkit
 * ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda) and those that pip fills in the active Python: nvidia/<part>/lib under the
 * site-packages of $VIRTUAL_ENV, of $CONDA_PREFIX and of the first python3 on $PATH. Relative folders are left out. */
void *library_open_cuda(const char *const *names);

/* Stores the address of a symbol in *function, a pointer to a function. False where the library has no such symbol. */
int library_symbol(void *handle, const char *name, void *function);

/* The file behind a handle, links resolved. False where the loader does not say or `file` is too short. */
int library_file(void *handle, char *file, size_t bytes);

/* Stands for a file: its build id, else all of its content. 0: it cannot be read. */
uint64_t library_fingerprint(const char *path);

/* The same for all files beside it that match a pattern: the parts that it opens when it needs them. */
uint64_t library_fingerprint_parts(const char *path, const char *pattern);

/* A vendor library found at run time. `reason` is NULL where it can be used. */
typedef struct vendor_library {
    const char *name; /* "onednn" */
    const char *file; /* the file that was opened, as the loader resolved it; NULL: none */
    char version[32];
    char isa[48];       /* the core type or instruction set it runs with; "" on a GPU */
    const char *reason; /* why it cannot be used, in words, and what to install */
    int handicapped;    /* 1: it does not run at the CPU's best working instruction set, so its times prove nothing */
} vendor_library;

#endif
