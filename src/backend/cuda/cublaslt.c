/*
 * cuBLASLt, opened once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/cublaslt.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static vendor_library library = {.name = "cublaslt"};
static cublaslt_functions functions;
static char file[PATH_MAX];
static char reason[PATH_MAX + 128];

/* The name of the first function that the library lacks; NULL: it has them all. */
static const char *resolve(void *handle) {
#define CUBLASLT_RESOLVE(member, symbol, result, parameters) \
    if (!library_symbol(handle, #symbol, &functions.member)) return #symbol;
    CUBLASLT_FUNCTIONS(CUBLASLT_RESOLVE)
#undef CUBLASLT_RESOLVE
    return NULL;
}

static void open_library(void) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
    void *handle = library_open_cuda(names);
    if (!handle) {
        library.reason =
            "no libcublasLt.so.13 or .12: install the CUDA toolkit's cuBLAS, or set BRAID_LIBRARY_PATH to its folder";
        return;
    }
    library.file = library_file(handle, file, sizeof file) ? file : names[0];
    const char *missing = resolve(handle);
    if (missing) {
        snprintf(reason, sizeof reason, "%s has no %s: braid needs cuBLASLt 12 or 13", library.file, missing);
        library.reason = reason;
        return;
    }
    const size_t number = functions.version(); /* 130101 for 13.1.1 */
    snprintf(library.version, sizeof library.version, "%zu.%zu.%zu", number / 10000, number / 100 % 100, number % 100);
}

const vendor_library *cublaslt_library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return &library;
}

const cublaslt_functions *cublaslt(void) { return &functions; }
