/*
 * threads_for on OpenMP, with dynamic scheduling: the parts decide the bits, so who runs one is free.
 * A call from within a part runs its own parts on the spot, one after another.
 *
 * The threads of libgomp are gone in a child of a fork, and it waits for them for ever. Whether somebody has used them
 * before cannot be asked, so that every child of a fork has one thread, and libgomp starts nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/threads.h"

#include <dlfcn.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local int wanted_threads;
static atomic_bool after_fork; /* since the library was loaded */

static void note_fork(void) { atomic_store_explicit(&after_fork, true, memory_order_relaxed); }

/* Where there is no memory for it, a child of a fork is as badly off as with libgomp alone. */
__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, note_fork); }

int threads_most(void) { return atomic_load_explicit(&after_fork, memory_order_relaxed) ? 1 : THREADS_MOST; }

static int at_most(int count, int most) { return count < most ? count : most; }

/* The first number of $OMP_NUM_THREADS, which may be a list; 0 where there is none. */
static int threads_from_environment(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    if (!text) return 0;
    long count = strtol(text, &end, 10);
    end += strspn(end, " \t");
    if (end == text || (*end && *end != ',') || count < 1) return 0;
    return count < THREADS_MOST ? (int)count : THREADS_MOST;
}

static int count_available(void) {
    int count = threads_from_environment();
    if (count > 0) return count;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) count = CPU_COUNT(&cores);
    if (count > 0) return count;
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than cpu_set_t can name */
    return online > 0 && online <= INT_MAX ? (int)online : 1;
}

int threads_available(void) { return at_most(count_available(), threads_most()); }

void threads_set(int count) { wanted_threads = count > 0 ? count : 0; }

int threads_get(void) { return wanted_threads ? at_most(wanted_threads, threads_most()) : threads_available(); }

/* Vendor libraries take the OpenMP setting of the calling thread; threads_for does not look at it. */
int threads_apply(int count) {
    int before = omp_get_max_threads();
    omp_set_num_threads(count > 0 ? at_most(count, threads_most()) : threads_available());
    return before;
}

void threads_restore(int before) { omp_set_num_threads(before); }

/* Asks the loader which file serves us: a gcc build may be served by libomp when that was loaded first. */
const char *threads_runtime(void) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (symbol && dladdr(symbol, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *name = slash ? slash + 1 : info.dli_fname;
        if (strstr(name, "gomp")) return "libgomp";
        if (strstr(name, "omp")) return "libomp";
    }
#ifdef __clang__
    return "libomp";
#else
    return "libgomp";
#endif
}

void threads_for(int64_t parts, void (*part)(void *context, int64_t i), void *context) {
    int64_t useful = omp_in_parallel() ? 1 : threads_get();
    if (useful > parts) useful = parts;
    if (useful <= 1) {
        for (int64_t i = 0; i < parts; i++) part(context, i);
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)useful)
    for (int64_t i = 0; i < parts; i++) part(context, i);
}

void threads_range(int64_t total, int64_t parts, int64_t i, int64_t *begin, int64_t *end) {
    *begin = *end = 0;
    if (total <= 0 || parts <= 0) return;
    int64_t size = total / parts, longer = total % parts; /* the first `longer` parts have one item more */
    *begin = i * size + (i < longer ? i : longer);
    *end = *begin + size + (i < longer);
}
