/*
 * cuDNN, opened once. libcudnn.so.9 is a small file that opens its parts when they are needed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/cudnn.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static vendor_library library = {.name = "cudnn"};
static cudnn_functions functions;
static char file[PATH_MAX];
static char reason[PATH_MAX + 128];

/* The name of the first function that the library lacks; NULL: it has them all. */
static const char *resolve(void *handle) {
#define CUDNN_RESOLVE(member, symbol, result, parameters) \
    if (!library_symbol(handle, #symbol, &functions.member)) return #symbol;
    CUDNN_FUNCTIONS(CUDNN_RESOLVE)
#undef CUDNN_RESOLVE
    return NULL;
}

static void open_library(void) {
    static const char *const names[] = {"libcudnn.so.9", NULL};
    void *handle = library_open_cuda(names);
    if (!handle) {
        library.reason = "no libcudnn.so.9: install cuDNN 9, or set BRAID_LIBRARY_PATH to its folder";
        return;
    }
    library.file = library_file(handle, file, sizeof file) ? file : names[0];
    const char *missing = resolve(handle);
    if (missing) {
        snprintf(reason, sizeof reason, "%s has no %s: braid needs cuDNN 9", library.file, missing);
        library.reason = reason;
        return;
    }
    const size_t number = functions.version(); /* 91400 for 9.14.0 */
    snprintf(library.version, sizeof library.version, "%zu.%zu.%zu", number / 10000, number / 100 % 100, number % 100);
    if (number / 10000 != 9) {
        snprintf(reason, sizeof reason, "%s is version %s: braid needs cuDNN 9", library.file, library.version);
        library.reason = reason;
    }
}

const vendor_library *cudnn_library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return &library;
}

const cudnn_functions *cudnn(void) { return &functions; }
