/*
 * Tests of core/memory: allocations that fail, the count of live ones, foreign allocators, arenas.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/fail_nth.h"

static void alignment_and_contents(void **state) {
    void *plain, *zeroed, *device, *empty;
    (void)state;
    assert_int_equal(memory_alloc(3, 7, "plain", &plain), BRAID_OK);
    assert_int_equal(memory_calloc(1000, 3, "zeroed", &zeroed), BRAID_OK);
    assert_int_equal(memory_alloc_device(5, "device", &device), BRAID_OK);
    assert_int_equal(memory_alloc(0, 8, "empty", &empty), BRAID_OK);
    assert_non_null(empty);
    assert_int_equal((uintptr_t)plain % MEMORY_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)zeroed % MEMORY_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)device % MEMORY_DEVICE_ALIGNMENT, 0);
    for (int i = 0; i < 3000; i++) assert_int_equal(((unsigned char *)zeroed)[i], 0);
    assert_int_equal(memory_live(), 4);
    memory_free(plain);
    memory_free(zeroed);
    memory_free(device);
    memory_free(empty);
    memory_free(NULL);
    assert_int_equal(memory_live(), 0);
}

static void sizes_that_cannot_be(void **state) {
    int here;
    void *memory = &here;
    (void)state;
    assert_int_equal(memory_alloc(SIZE_MAX, 2, "weights", &memory), BRAID_ERROR_MEMORY);
    assert_null(memory);
    memory = &here;
    assert_int_equal(memory_calloc(SIZE_MAX / 2, 4, "weights", &memory), BRAID_ERROR_MEMORY);
    assert_null(memory);
    memory = &here;
    assert_int_equal(memory_alloc_device(SIZE_MAX / 2, "weights", &memory), BRAID_ERROR_MEMORY);
    assert_null(memory);
    assert_non_null(strstr(braid_message(), "weights"));
    assert_int_equal(memory_live(), 0);
}

/* Uses every function that allocates; frees whatever it got. */
static braid_status allocate_some(void) {
    void *first = NULL, *second = NULL, *piece = NULL;
    char *text = NULL;
    arena a = {0};
    braid_status status = memory_alloc(10, 4, "first", &first);
    if (!status) status = memory_calloc(10, 4, "second", &second);
    if (!status) status = memory_copy_text("hello", &text);
    if (!status) status = arena_create(&a, 1000, "arena");
    if (!status) status = arena_take(&a, 100, "piece", &piece);
    if (!status) assert_string_equal(text, "hello");
    if (!status) assert_int_equal(*(int *)second, 0);
    memory_free(first);
    memory_free(second);
    memory_free(text);
    arena_destroy(&a);
    return status;
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    fail_alloc_install();
    for (fail_mode mode = FAIL_ONCE; mode <= FAIL_PERSISTENT; mode++) {
        int64_t nth = 0, failures;
        do {
            fail_alloc_arm(++nth, mode);
            braid_status status = allocate_some();
            failures = fail_alloc_disarm();
            assert_int_equal(memory_live(), 0);
            assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        } while (failures > 0);
        assert_int_equal(nth, 5);
        assert_int_equal(fail_alloc_calls(), 4);
    }
    fail_alloc_remove();
}

static void allocator_is_refused(void **state) {
    braid_allocator half = {0};
    void *memory;
    (void)state;
    assert_int_equal(braid_set_allocator(&half), BRAID_ERROR_ARGUMENT);
    assert_int_equal(memory_alloc(1, 1, "alive", &memory), BRAID_OK);
    assert_int_equal(braid_set_allocator(NULL), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "1 live"));
    memory_free(memory);
    assert_int_equal(braid_set_allocator(NULL), BRAID_OK);
}

typedef struct counted_user {
    int allocs, frees;
    size_t shift; /* handed out this far from where it is aligned */
} counted_user;

static _Alignas(256) unsigned char pool[1024];

static void *pool_alloc(void *user, size_t bytes, size_t alignment) {
    counted_user *counted = user;
    counted->allocs++;
    return bytes <= 512 && alignment <= 256 ? pool + counted->shift : NULL;
}

static void pool_free(void *user, void *memory) {
    assert_in_range((uintptr_t)memory, (uintptr_t)pool, (uintptr_t)(pool + sizeof pool));
    ((counted_user *)user)->frees++;
}

static void allocator_of_the_caller(void **state) {
    counted_user user = {0};
    void *memory;
    (void)state;
    assert_int_equal(braid_set_allocator(&(braid_allocator){pool_alloc, pool_free, &user}), BRAID_OK);
    assert_int_equal(memory_alloc(4, 4, "pool", &memory), BRAID_OK);
    assert_ptr_equal(memory, pool);
    memory_free(memory);
    user.shift = 32;
    assert_int_equal(memory_alloc(4, 4, "pool", &memory), BRAID_ERROR_MEMORY);
    assert_null(memory);
    assert_int_equal(user.allocs, 2);
    assert_int_equal(user.frees, 2);
    assert_int_equal(braid_set_allocator(NULL), BRAID_OK);
}

static void arena_pieces(void **state) {
    arena a;
    void *first, *second, *third;
    (void)state;
    assert_int_equal(arena_create(&a, 1024, "arena"), BRAID_OK);
    assert_int_equal(arena_take(&a, 1, "first", &first), BRAID_OK);
    assert_int_equal(arena_take(&a, 768, "second", &second), BRAID_OK);
    assert_ptr_equal(first, a.base);
    assert_ptr_equal(second, a.base + 256);
    assert_int_equal((uintptr_t)second % MEMORY_DEVICE_ALIGNMENT, 0);
    assert_int_equal(arena_take(&a, 1, "third", &third), BRAID_ERROR_MEMORY);
    assert_null(third);
    assert_int_equal(arena_take(&a, SIZE_MAX, "third", &third), BRAID_ERROR_MEMORY);
    assert_int_equal(arena_take(&a, 0, "third", &third), BRAID_OK);
    memset(a.base, 1, 1024);
    arena_destroy(&a);
    arena_destroy(&a);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alignment_and_contents),      cmocka_unit_test(sizes_that_cannot_be),
        cmocka_unit_test(every_allocation_fails_once), cmocka_unit_test(allocator_is_refused),
        cmocka_unit_test(allocator_of_the_caller),     cmocka_unit_test(arena_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
