/*
 * Opens libcuda.so.1 and looks up what braid needs of it. The outcome, good or bad, is kept for the
 * life of the process: a driver does not appear or recover while a program runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/library.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cuda_driver driver;
static char missing[512]; /* "" where the driver can be used */
static pid_t owner;       /* the process that opened it */

const char *driver_error_text(const cuda_driver *d, cu_result error, char *text, size_t bytes) {
    const char *name = NULL, *words = NULL;
    if (d->error_name) (void)d->error_name(error, &name);
    if (d->error_string) (void)d->error_string(error, &words);
    if (name && words) {
        (void)snprintf(text, bytes, "%s (%s)", name, words);
    } else {
        (void)snprintf(text, bytes, "CUDA error %d", error);
    }
    return text;
}

/* False, and the reason in `missing`, where a function is not there: the driver is older than braid can use. */
static int find_functions(void *library) {
    const char *absent = NULL;
    void *address;
#define DRIVER_FIND(member, symbol, parameters) \
    address = dlsym(library, #symbol);          \
    if (!address && !absent) absent = #symbol;  \
    memcpy(&driver.member, &address, sizeof address);
    DRIVER_FUNCTIONS(DRIVER_FIND)
#undef DRIVER_FIND
#define DRIVER_TRY(member, symbol, parameters) \
    address = dlsym(library, #symbol);         \
    memcpy(&driver.member, &address, sizeof address);
    DRIVER_OPTIONAL(DRIVER_TRY)
#undef DRIVER_TRY
    if (!absent) return 1;
    (void)snprintf(missing, sizeof missing, "the NVIDIA driver (%s) has no function %s; install a newer driver",
                   driver.file[0] ? driver.file : "libcuda.so.1", absent);
    return 0;
}

static void load(void) {
    static const char *const names[] = {"libcuda.so.1", NULL};
    char text[256];
    void *library = library_open(names);
    if (!library) {
        (void)snprintf(
            missing, sizeof missing,
            "no NVIDIA driver: libcuda.so.1 was not found; install the driver on a machine with an NVIDIA GPU, "
            "or name its folder in BRAID_LIBRARY_PATH");
        return;
    }
    if (!library_file(library, driver.file, sizeof driver.file)) driver.file[0] = '\0';
    if (!find_functions(library)) return;
    owner = getpid();
    cu_result result = driver.init(0);
    if (result == CU_SUCCESS) result = driver.version(&driver.number);
    if (result == CU_ERROR_NO_DEVICE) {
        (void)snprintf(missing, sizeof missing,
                       "the NVIDIA driver is there but sees no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
    } else if (result != CU_SUCCESS) {
        (void)snprintf(missing, sizeof missing, "the NVIDIA driver does not start: %s; check nvidia-smi",
                       driver_error_text(&driver, result, text, sizeof text));
    }
}

braid_status driver_open(const cuda_driver **out) {
    *out = NULL;
    if (pthread_once(&once, load) != 0) return fail(BRAID_ERROR_DEVICE, "cuda: the driver could not be opened once");
    if (missing[0]) return fail(BRAID_ERROR_DEVICE, "cuda: %s", missing);
    if (owner != getpid())
        return fail(BRAID_ERROR_DEVICE,
                    "cuda: expected the process that began to use CUDA, got a child of its fork, which the driver does "
                    "not serve; start the child by exec (in Python: multiprocessing's spawn), or use --device cpu");
    *out = &driver;
    return BRAID_OK;
}
