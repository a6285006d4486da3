/*
 * Host memory. Every allocation of the library goes through one table, which the caller may
 * replace (braid_set_allocator) and tests do, to make the Nth call fail.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_MEMORY_H
#define BRAID_CORE_MEMORY_H

#include "core/status.h"

#define MEMORY_ALIGNMENT 64         /* of memory_alloc */
#define MEMORY_DEVICE_ALIGNMENT 256 /* of operands and planes */

/* Uninitialised memory for `count` elements. *out is NULL on failure; a count of 0 gives a valid pointer. */
braid_status memory_alloc(size_t count, size_t element_bytes, const char *what, void **out);

/* The same, zeroed. */
braid_status memory_calloc(size_t count, size_t element_bytes, const char *what, void **out);

/* The same as memory_alloc with MEMORY_DEVICE_ALIGNMENT. */
braid_status memory_alloc_device(size_t bytes, const char *what, void **out);

/* NULL is fine. */
void memory_free(void *memory);

/* Makes room for one more element behind the first `used` of an array, by doubling it; *room is how many fit. Starts
 * from NULL and 0. On failure the array stays as it was. */
braid_status memory_grow(void **array, size_t used, size_t *room, size_t element_bytes, const char *what);

/* A copy of a string. */
braid_status memory_copy_text(const char *text, char **out);

/* What braid_set_allocator does. */
braid_status memory_set_allocator(const braid_allocator *allocator);

/* Live allocations, for tests and for braid_set_allocator. */
int64_t memory_live(void);

/* An arena: one allocation from which pieces are cut and which is freed whole. */
typedef struct arena {
    unsigned char *base;
    size_t bytes, used;
} arena;

braid_status arena_create(arena *a, size_t bytes, const char *what);
braid_status arena_take(arena *a, size_t bytes, const char *what, void **out); /* aligned to MEMORY_DEVICE_ALIGNMENT */
void arena_destroy(arena *a);

#endif
