/*
 * A library that was built without CUDA kernels: no GPU is counted or opened, and the message says why and what to
 * type. This program has tables of images without rows (tests/emu/CMakeLists.txt).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "backend/backend.h"

static void says_what_to_type(void) {
    assert_non_null(strstr(braid_message(), "built without nvcc, or where no GPU was"));
    assert_non_null(strstr(braid_message(), "make all GPUS=all"));
}

static void no_gpu_is_there(void **state) {
    device *d = NULL;
    (void)state;
    assert_int_equal(backend_cuda.count(), 0);
    says_what_to_type();
    assert_int_equal(backend_cuda.open(0, &d), BRAID_ERROR_DEVICE);
    assert_null(d);
    says_what_to_type();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_gpu_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
