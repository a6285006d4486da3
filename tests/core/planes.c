/*
 * Tests of core/planes: layout, views, the 16-byte pitch, and sizes that cannot be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "core/dtype.h"
#include "core/planes.h"

static const int64_t shape[3] = {2, 5, 7};

static void layout(void **state) {
    const int64_t channels[3] = {3, 1, 64};
    planes p;
    static unsigned char base[1];
    (void)state;
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 3, channels, NULL), BRAID_OK);
    assert_int_equal(p.count, 3);
    assert_int_equal(p.batch * 100 + p.height * 10 + p.width, 257);
    assert_memory_equal(p.channels, channels, sizeof channels);
    assert_memory_equal(p.pitch, channels, sizeof channels);
    assert_int_equal(p.offset[0], 0);
    assert_int_equal(p.offset[1], 1024); /* 70 pixels of 12 bytes = 840 */
    assert_int_equal(p.offset[2], 1024 + 512);
    assert_int_equal(p.bytes, 1024 + 512 + 17920);
    assert_ptr_equal(planes_at(&p, base, 0), base);
    assert_int_equal((uintptr_t)planes_at(&p, base, 2) - (uintptr_t)base, 1536);
    assert_null(planes_at(&p, base, 3));
    assert_null(planes_at(&p, base, -1));
    assert_null(planes_at(&p, NULL, 1));
}

static void equal_widths_and_pitch(void **state) {
    const int64_t channels[9] = {4, 4, 4, 4, 4, 4, 4, 4, 4}, pitch[2] = {8, 4};
    const int64_t aligned_shape[3] = {1, 8, 8};
    planes p;
    (void)state;
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F16, aligned_shape, 9, channels, NULL), BRAID_OK);
    for (int i = 0; i < 9; i++) assert_int_equal(p.offset[i], 512 * i); /* [n][B][H][W][C] without a gap */
    assert_int_equal(p.bytes, 512 * 9);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F16, aligned_shape, 2, channels, pitch), BRAID_OK);
    assert_int_equal(p.offset[1], 1024);
    assert_int_equal(p.pitch[0], 8);
    assert_int_equal(p.channels[0], 4);
}

static void nothing_in_it(void **state) {
    const int64_t channels[2] = {0, 4}, empty_batch[3] = {0, 5, 7};
    planes p;
    (void)state;
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 2, channels, NULL), BRAID_OK);
    assert_int_equal(p.offset[1], 0);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, empty_batch, 2, channels, NULL), BRAID_OK);
    assert_int_equal(p.bytes, 0);
}

static void refusals(void **state) {
    const int64_t channels[10] = {3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, short_pitch[2] = {3, 0}, negative[1] = {-1};
    const int64_t huge_shape[3] = {INT64_C(1) << 30, INT64_C(1) << 30, 1}, bad_shape[3] = {2, -5, 7};
    const int64_t large_channels[9] = {1 << 26, 1 << 26, 1 << 26, 1 << 26, 1 << 26, 1 << 26, 1 << 26, 1 << 26, 1 << 26};
    const int64_t large_shape[3] = {1 << 10, 1 << 11, 1 << 11};
    planes p = {.count = 77};
    (void)state;
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 0, channels, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 10, channels, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_COUNT, shape, 1, channels, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 2, channels, short_pitch), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "plane 1"));
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, shape, 1, negative, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, bad_shape, 1, channels, NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F32, huge_shape, 1, channels, NULL), BRAID_ERROR_MEMORY);
    assert_int_equal(planes_lay(&p, BRAID_DTYPE_F64, large_shape, 9, large_channels, NULL), BRAID_ERROR_MEMORY);
    assert_int_equal(p.count, 77);
}

static void pitch16(void **state) {
    static const braid_dtype dtypes[] = {BRAID_DTYPE_F32, BRAID_DTYPE_F16, BRAID_DTYPE_BF16, BRAID_DTYPE_F64,
                                         BRAID_DTYPE_U8};
    (void)state;
    for (int d = 0; d < 5; d++) {
        int64_t bytes = (int64_t)dtype_bytes(dtypes[d]);
        for (int64_t channels = 0; channels < 70; channels++) {
            int64_t pitch = planes_pitch16(channels, dtypes[d]);
            assert_int_equal(pitch * bytes % 16, 0);
            assert_in_range(pitch, channels, channels + 16 / bytes - 1);
        }
    }
    assert_int_equal(planes_pitch16(3, BRAID_DTYPE_F16), 8);
    assert_true(planes_pitch16(INT64_MAX, BRAID_DTYPE_U8) == INT64_MAX);
    assert_int_equal(planes_pitch16(-3, BRAID_DTYPE_U8), -3);
    assert_int_equal(planes_pitch16(3, BRAID_DTYPE_COUNT), 3);
}

static void views(void **state) {
    const int64_t channels[4] = {3, 1, 64, 8};
    planes all, streams, last, inner;
    (void)state;
    assert_int_equal(planes_lay(&all, BRAID_DTYPE_F32, shape, 4, channels, NULL), BRAID_OK);
    assert_int_equal(planes_view(&streams, &all, 0, 3), BRAID_OK);
    assert_int_equal(streams.count, 3);
    assert_int_equal(streams.bytes, all.offset[3]);
    assert_int_equal(streams.offset[2], all.offset[2]);
    assert_int_equal(planes_view(&last, &all, 3, 1), BRAID_OK);
    assert_int_equal(last.channels[0], 8);
    assert_int_equal(last.offset[0], all.offset[3]);
    assert_int_equal(last.bytes, all.bytes - all.offset[3]);
    assert_int_equal(planes_view(&inner, &streams, 1, 2), BRAID_OK);
    assert_int_equal(inner.channels[1], 64);
    assert_int_equal(inner.bytes, all.offset[3] - all.offset[1]);
    assert_int_equal(planes_view(&inner, &inner, 1, 1), BRAID_OK); /* a view of a view, in place */
    assert_int_equal(inner.offset[0], all.offset[2]);
    assert_int_equal(inner.bytes, all.offset[3] - all.offset[2]);
    assert_int_equal(planes_view(&inner, &all, 0, 5), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_view(&inner, &all, 3, 2), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_view(&inner, &all, -1, 2), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_view(&inner, &all, 1, 0), BRAID_ERROR_ARGUMENT);
    assert_int_equal(planes_view(&inner, &all, INT32_MAX, INT32_MAX), BRAID_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),        cmocka_unit_test(equal_widths_and_pitch),
        cmocka_unit_test(nothing_in_it), cmocka_unit_test(refusals),
        cmocka_unit_test(pitch16),       cmocka_unit_test(views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
