/*
 * Threads. Work is cut into parts by the caller, from the problem alone and never from the number
 * of threads; each part does its own writes. So the same bits come out at any number of threads.
 * This is the only place where OpenMP appears.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_THREADS_H
#define BRAID_CORE_THREADS_H

#include <stdint.h>

#define THREADS_MOST 1024 /* libgomp has them all on its stack, which ends at some ten thousand */

int threads_most(void);      /* THREADS_MOST; in a child of a fork 1 */
int threads_available(void); /* $OMP_NUM_THREADS, else the cores this process may use; at most threads_most() */
void threads_set(int count); /* for the calling thread's next threads_for; 0: threads_available() */
int threads_get(void);
const char *threads_runtime(void); /* "libgomp" or "libomp": they must not be mixed in one process */

/* Sets how many threads a vendor library called from this thread will start, and returns what it was before, for
 * threads_restore. */
int threads_apply(int count);
void threads_restore(int before);

/* Calls part(context, i) once for each i in [0, parts), on any thread, in any order. */
void threads_for(int64_t parts, void (*part)(void *context, int64_t i), void *context);

/* The half-open range of part i when `total` items are cut into `parts` nearly equal pieces. */
void threads_range(int64_t total, int64_t parts, int64_t i, int64_t *begin, int64_t *end);

#endif
