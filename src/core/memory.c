/*
 * One allocator table for the process, and a count of what is alive. Only that count is atomic: the
 * table changes while nothing is alive and no thread is at work (see braid_set_allocator).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/sizes.h"

#define LARGE ((size_t)8 << 20)
#define LARGE_PAGE ((size_t)2 << 20)

/* Large blocks are asked for in large pages: the first touch of gigabytes of small ones takes seconds. Only advice. */
static void advise(void *memory, size_t bytes) {
    size_t skipped = (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE;
    (void)madvise((char *)memory + skipped, (bytes - skipped) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
}

static void *system_alloc(void *user, size_t bytes, size_t alignment) {
    void *memory = NULL;
    (void)user;
    if (posix_memalign(&memory, alignment, bytes) != 0) return NULL;
    if (bytes >= LARGE) advise(memory, bytes);
    return memory;
}

static void system_free(void *user, void *memory) {
    (void)user;
    free(memory);
}

static const braid_allocator system_allocator = {system_alloc, system_free, NULL};
static braid_allocator allocator_table = {system_alloc, system_free, NULL};
static atomic_int_fast64_t live_count;

braid_status memory_set_allocator(const braid_allocator *allocator) {
    int64_t live = memory_live();
    if (live != 0)
        return fail(BRAID_ERROR_ARGUMENT,
                    "allocator: expected nothing of braid's to be alive, got %lld live allocations; "
                    "set the allocator first, or destroy every context and op before",
                    (long long)live);
    if (allocator && (!allocator->alloc || !allocator->free))
        return fail(BRAID_ERROR_ARGUMENT, "allocator: expected both alloc and free, got NULL for %s",
                    allocator->alloc ? "free" : "alloc");
    allocator_table = allocator ? *allocator : system_allocator;
    return BRAID_OK;
}

int64_t memory_live(void) { return atomic_load(&live_count); }

static braid_status allocate(size_t bytes, size_t alignment, const char *what, void **out) {
    *out = NULL;
    void *memory = allocator_table.alloc(allocator_table.user, bytes ? bytes : 1, alignment);
    if (!memory)
        return fail(BRAID_ERROR_MEMORY, "%s: no memory for %zu bytes; use a smaller problem or free memory", what,
                    bytes);
    if ((uintptr_t)memory % alignment != 0) {
        allocator_table.free(allocator_table.user, memory);
        return fail(BRAID_ERROR_MEMORY,
                    "%s: expected memory aligned to %zu bytes, got %p from the allocator that was set", what, alignment,
                    memory);
    }
    atomic_fetch_add(&live_count, 1);
    *out = memory;
    return BRAID_OK;
}

braid_status memory_alloc(size_t count, size_t element_bytes, const char *what, void **out) {
    size_t bytes;
    *out = NULL;
    TRY(size_array(count, element_bytes, what, &bytes));
    return allocate(bytes, MEMORY_ALIGNMENT, what, out);
}

braid_status memory_calloc(size_t count, size_t element_bytes, const char *what, void **out) {
    size_t bytes;
    *out = NULL;
    TRY(size_array(count, element_bytes, what, &bytes));
    TRY(allocate(bytes, MEMORY_ALIGNMENT, what, out));
    memset(*out, 0, bytes);
    return BRAID_OK;
}

braid_status memory_alloc_device(size_t bytes, const char *what, void **out) {
    return allocate(bytes, MEMORY_DEVICE_ALIGNMENT, what, out);
}

void memory_free(void *memory) {
    if (!memory) return;
    allocator_table.free(allocator_table.user, memory);
    atomic_fetch_sub(&live_count, 1);
}

braid_status memory_grow(void **array, size_t used, size_t *room, size_t element_bytes, const char *what) {
    void *larger;
    size_t wanted = 16;
    if (used < *room) return BRAID_OK;
    if (*room >= wanted && !size_mul(*room, 2, &wanted))
        return fail(BRAID_ERROR_MEMORY, "%s: expected a size that fits in 64 bits, got twice %zu elements", what,
                    *room);
    TRY(memory_alloc(wanted, element_bytes, what, &larger));
    if (used > 0) memcpy(larger, *array, used * element_bytes); /* fits: it was allocated */
    memory_free(*array);
    *array = larger;
    *room = wanted;
    return BRAID_OK;
}

braid_status memory_copy_text(const char *text, char **out) {
    void *copy;
    size_t bytes = strlen(text) + 1;
    *out = NULL;
    TRY(memory_alloc(bytes, 1, "a copy of a text", &copy));
    *out = memcpy(copy, text, bytes);
    return BRAID_OK;
}

braid_status arena_create(arena *a, size_t bytes, const char *what) {
    void *base;
    *a = (arena){0};
    TRY(memory_alloc_device(bytes, what, &base));
    *a = (arena){.base = base, .bytes = bytes};
    return BRAID_OK;
}

braid_status arena_take(arena *a, size_t bytes, const char *what, void **out) {
    size_t begin, end;
    *out = NULL;
    if (!size_align(a->used, MEMORY_DEVICE_ALIGNMENT, &begin) || !size_add(begin, bytes, &end) || end > a->bytes)
        return fail(BRAID_ERROR_MEMORY, "%s: expected %zu bytes of room in the arena, got %zu of %zu bytes in use",
                    what, bytes, a->used, a->bytes);
    *out = a->base + begin;
    a->used = end;
    return BRAID_OK;
}

void arena_destroy(arena *a) {
    memory_free(a->base);
    *a = (arena){0};
}
