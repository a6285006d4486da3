/*
 * Tests of core/sizes, at every edge where 64 bits end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/sizes.h"

#define UNTOUCHED 12345

static void add(void **state) {
    size_t out = UNTOUCHED;
    (void)state;
    assert_false(size_add(SIZE_MAX, 1, &out));
    assert_false(size_add(1, SIZE_MAX, &out));
    assert_false(size_add(SIZE_MAX, SIZE_MAX, &out));
    assert_int_equal(out, UNTOUCHED);
    assert_true(size_add(SIZE_MAX, 0, &out) && out == SIZE_MAX);
    assert_true(size_add(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
    assert_true(size_add(0, 0, &out) && out == 0);
    assert_true(size_add(out, 7, &out) && out == 7);
}

static void mul(void **state) {
    size_t out = UNTOUCHED;
    (void)state;
    assert_false(size_mul(SIZE_MAX, 2, &out));
    assert_false(size_mul((size_t)1 << 32, (size_t)1 << 32, &out));
    assert_false(size_mul(SIZE_MAX / 3 + 1, 3, &out));
    assert_int_equal(out, UNTOUCHED);
    assert_true(size_mul(SIZE_MAX / 3, 3, &out) && out == SIZE_MAX / 3 * 3);
    assert_true(size_mul(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    assert_true(size_mul(SIZE_MAX, 0, &out) && out == 0);
    assert_true(size_mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &out) && out == SIZE_MAX - UINT32_MAX);
}

static void align(void **state) {
    size_t out = UNTOUCHED;
    (void)state;
    assert_false(size_align(SIZE_MAX, 2, &out));
    assert_false(size_align(SIZE_MAX - 254, 256, &out));
    assert_int_equal(out, UNTOUCHED);
    assert_true(size_align(SIZE_MAX - 255, 256, &out) && out == SIZE_MAX - 255);
    assert_true(size_align(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    assert_true(size_align(0, 64, &out) && out == 0);
    assert_true(size_align(1, 64, &out) && out == 64);
    assert_true(size_align(64, 64, &out) && out == 64);
    assert_true(size_align(65, 64, &out) && out == 128);
}

static void array(void **state) {
    size_t bytes = UNTOUCHED;
    (void)state;
    assert_int_equal(size_array(SIZE_MAX / 8 + 1, 8, "weights", &bytes), BRAID_ERROR_MEMORY);
    assert_int_equal(bytes, UNTOUCHED);
    assert_non_null(strstr(braid_message(), "weights"));
    assert_int_equal(size_array(SIZE_MAX / 8, 8, "weights", &bytes), BRAID_OK);
    assert_int_equal(bytes, SIZE_MAX - 7);
    assert_int_equal(size_array(0, 8, "weights", &bytes), BRAID_OK);
    assert_int_equal(bytes, 0);
}

static void elements(void **state) {
    const int64_t most = INT64_MAX / 16;
    int64_t count = UNTOUCHED;
    (void)state;
    assert_int_equal(size_elements((int64_t[]){2, -1}, 2, "y", &count), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "-1"));
    assert_int_equal(size_elements((int64_t[]){0, INT64_MIN}, 2, "y", &count), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_elements((int64_t[]){2}, -1, "y", &count), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_elements((int64_t[]){most + 1}, 1, "y", &count), BRAID_ERROR_MEMORY);
    assert_int_equal(size_elements((int64_t[]){INT64_MAX}, 1, "y", &count), BRAID_ERROR_MEMORY);
    assert_int_equal(size_elements((int64_t[]){most / 2 + 1, 2}, 2, "y", &count), BRAID_ERROR_MEMORY);
    assert_int_equal(size_elements((int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32}, 2, "y", &count),
                     BRAID_ERROR_MEMORY);
    assert_int_equal(size_elements((int64_t[]){0, most, 2}, 3, "y", &count), BRAID_ERROR_MEMORY); /* strides overflow */
    assert_int_equal(count, UNTOUCHED);
    assert_int_equal(size_elements((int64_t[]){most}, 1, "y", &count), BRAID_OK);
    assert_int_equal(count, most);
    assert_int_equal(size_elements((int64_t[]){2, 3, 4, 5}, 4, "y", &count), BRAID_OK);
    assert_int_equal(count, 120);
    assert_int_equal(size_elements((int64_t[]){64, 0, 1, 1}, 4, "y", &count), BRAID_OK);
    assert_int_equal(count, 0);
    assert_int_equal(size_elements(NULL, 0, "y", &count), BRAID_OK);
    assert_int_equal(count, 1);
}

static void tensor_refusals(void **state) {
    const int64_t dims[4] = {2, 3, 4, 5}, most = INT64_MAX / 16;
    size_t bytes = UNTOUCHED;
    (void)state;
    assert_int_equal(size_tensor(dims, 4, 4, BRAID_DTYPE_F32, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "pitch"));
    assert_int_equal(size_tensor(dims, 4, 5, BRAID_DTYPE_COUNT, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor(dims, 4, 5, (braid_dtype)-1, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor(dims, 0, 5, BRAID_DTYPE_F32, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor((int64_t[]){-2, 5}, 2, 5, BRAID_DTYPE_F32, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor((int64_t[]){2, -5}, 2, 5, BRAID_DTYPE_F32, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor((int64_t[]){2, -5}, 2, -5, BRAID_DTYPE_F32, "x", &bytes), BRAID_ERROR_ARGUMENT);
    assert_int_equal(size_tensor((int64_t[]){most, 1}, 2, 2, BRAID_DTYPE_U8, "x", &bytes), BRAID_ERROR_MEMORY);
    assert_int_equal(size_tensor((int64_t[]){1, 1}, 2, INT64_MAX, BRAID_DTYPE_F64, "x", &bytes), BRAID_ERROR_MEMORY);
    assert_int_equal(bytes, UNTOUCHED);
}

static void tensor_bytes(void **state) {
    const int64_t dims[4] = {2, 3, 4, 5}, most = INT64_MAX / 16;
    size_t bytes;
    (void)state;
    assert_int_equal(size_tensor(dims, 4, 5, BRAID_DTYPE_F32, "x", &bytes), BRAID_OK);
    assert_int_equal(bytes, 480);
    assert_int_equal(size_tensor(dims, 4, 8, BRAID_DTYPE_F16, "x", &bytes), BRAID_OK);
    assert_int_equal(bytes, 384);
    assert_int_equal(size_tensor((int64_t[]){0, 3}, 2, 3, BRAID_DTYPE_F32, "x", &bytes), BRAID_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(size_tensor((int64_t[]){3, 0}, 2, 0, BRAID_DTYPE_F32, "x", &bytes), BRAID_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(size_tensor((int64_t[]){most}, 1, most, BRAID_DTYPE_F64, "x", &bytes), BRAID_OK);
    assert_int_equal(bytes, (size_t)most * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add),          cmocka_unit_test(mul),      cmocka_unit_test(align),
        cmocka_unit_test(array),        cmocka_unit_test(elements), cmocka_unit_test(tensor_refusals),
        cmocka_unit_test(tensor_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
