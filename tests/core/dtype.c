/*
 * Tests of core/dtype: all 65,536 halves of both kinds, rounding against arithmetic in double, and
 * against the processor's own conversion where it has one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/rng.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The nearest half of a finite value, by arithmetic: value is rounded to a multiple of the spacing at it. */
static uint16_t true_f16(double value) {
    double magnitude = fabs(value);
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = magnitude < 0x1p-14 ? -14 : ilogb(magnitude);
    double steps = nearbyint(ldexp(magnitude, 10 - exponent)); /* exact before the rounding */
    if (ldexp(steps, exponent - 10) >= 65536) return (uint16_t)(sign | 0x7c00);
    return (uint16_t)(sign + ((exponent + 14) << 10) + (int)steps); /* the hidden bit carries into the exponent */
}

static uint16_t true_bf16(double value) {
    double magnitude = fabs(value);
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (magnitude < 0x1p-126) return sign;
    int exponent = ilogb(magnitude);
    double steps = nearbyint(ldexp(magnitude, 7 - exponent));
    if (ldexp(steps, exponent - 7) >= 0x1p128) return (uint16_t)(sign | 0x7f80);
    return (uint16_t)(sign + ((exponent + 126) << 7) + (int)steps);
}

static void table(void **state) {
    static const size_t bytes[] = {4, 2, 2, 8, 1, 4, 8};
    static const char *const names[] = {"f32", "f16", "bf16", "f64", "u8", "i32", "i64"};
    (void)state;
    for (int i = 0; i < BRAID_DTYPE_COUNT; i++) {
        braid_dtype dtype = (braid_dtype)i;
        assert_int_equal(dtype_bytes(dtype), bytes[i]);
        assert_string_equal(braid_dtype_name(dtype), names[i]);
        assert_int_equal(dtype_is_compute(dtype), i < 4);
        assert_int_equal(dtype_statistics(dtype), dtype == BRAID_DTYPE_F64 ? BRAID_DTYPE_F64 : BRAID_DTYPE_F32);
    }
    assert_int_equal(dtype_bytes(BRAID_DTYPE_COUNT), 0);
    assert_int_equal(dtype_bytes((braid_dtype)-1), 0);
    assert_null(braid_dtype_name(BRAID_DTYPE_COUNT));
    assert_true(dtype_unit_roundoff(BRAID_DTYPE_F32) == FLT_EPSILON / 2.0);
    assert_true(dtype_unit_roundoff(BRAID_DTYPE_F64) == DBL_EPSILON / 2);
    assert_true(dtype_unit_roundoff(BRAID_DTYPE_F16) == 0x1p-11);
    assert_true(dtype_unit_roundoff(BRAID_DTYPE_BF16) == 0x1p-8);
    assert_true(dtype_unit_roundoff(BRAID_DTYPE_U8) == 0);
}

static void every_f16(void **state) {
    (void)state;
    for (uint32_t half = 0; half < 65536; half++) {
        float value = f32_from_f16((uint16_t)half);
        uint32_t exponent = (half >> 10) & 31, fraction = half & 0x3ff;
        if (exponent == 31 && fraction) {
            assert_true(isnan(value));
            assert_int_equal(f16_from_f32(value), half | 0x200); /* quiet, same sign, same payload */
            continue;
        }
        double expected = exponent == 31  ? (double)INFINITY
                          : exponent == 0 ? ldexp(fraction, -24)
                                          : ldexp(1024 + fraction, (int)exponent - 25);
        assert_true((double)value == (half & 0x8000 ? -expected : expected));
        assert_int_equal(signbit(value) != 0, half >> 15);
        assert_int_equal(f16_from_f32(value), half);
    }
}

static void every_bf16(void **state) {
    (void)state;
    for (uint32_t half = 0; half < 65536; half++) {
        float value = f32_from_bf16((uint16_t)half);
        uint32_t exponent = (half >> 7) & 255, fraction = half & 0x7f;
        if (exponent == 255 && fraction) {
            assert_true(isnan(value));
            assert_int_equal(bf16_from_f32(value), half | 0x40);
        } else if (exponent == 0) {
            assert_int_equal(bits_of(value), (half & 0x8000) << 16); /* denormals are zeros of the same sign */
            assert_int_equal(bf16_from_f32(float_of(half << 16)), half & 0x8000);
        } else {
            assert_int_equal(bits_of(value), half << 16);
            assert_int_equal(bf16_from_f32(value), half);
        }
    }
}

static void ties_and_edges_f16(void **state) {
    (void)state;
    assert_int_equal(f16_from_f32(1 + 0x1p-11f), 0x3c00);            /* tie, down to even */
    assert_int_equal(f16_from_f32(1 + 0x3p-11f), 0x3c02);            /* tie, up to even */
    assert_int_equal(f16_from_f32(1 + 0x1p-11f + 0x1p-23f), 0x3c01); /* just above the tie */
    assert_int_equal(f16_from_f32(65504), 0x7bff);
    assert_int_equal(f16_from_f32(nextafterf(65520, 0)), 0x7bff);
    assert_int_equal(f16_from_f32(65520), 0x7c00);
    assert_int_equal(f16_from_f32(-FLT_MAX), 0xfc00);
    assert_int_equal(f16_from_f32(0x1p-25f), 0x0000); /* tie between 0 and the least denormal */
    assert_int_equal(f16_from_f32(nextafterf(0x1p-25f, 1)), 0x0001);
    assert_int_equal(f16_from_f32(0x3p-25f), 0x0002);
    assert_int_equal(f16_from_f32(nextafterf(0x1p-14f, 0)), 0x0400); /* denormal that rounds up to a normal */
    assert_int_equal(f16_from_f32(-0x1p-149f), 0x8000);
    assert_int_equal(f16_from_f32(float_of(0x7f800001)), 0x7e00); /* a signalling NaN does not become infinity */
    assert_int_equal(f16_from_f32(float_of(0xff800001)), 0xfe00);
}

static void ties_and_edges_tf32(void **state) {
    (void)state;
    assert_true(tf32_from_f32(1 + 0x1p-11f) == 1 + 0x1p-10f); /* tie, away from zero */
    assert_true(tf32_from_f32(-1 - 0x1p-11f) == -1 - 0x1p-10f);
    assert_true(tf32_from_f32(nextafterf(1 + 0x1p-11f, 1)) == 1);
    assert_true(tf32_from_f32(1 + 0x5p-12f) == 1 + 0x1p-10f);
    assert_true(isinf(tf32_from_f32(FLT_MAX)));
    assert_true(isinf(tf32_from_f32(-INFINITY)));
    assert_true(isnan(tf32_from_f32(float_of(0x7f800001))));
    assert_int_equal(bits_of(tf32_from_f32(-0.0f)), 0x80000000);
}

static void ties_and_edges_bf16(void **state) {
    (void)state;
    assert_int_equal(bf16_from_f32(1 + 0x1p-8f), 0x3f80);
    assert_int_equal(bf16_from_f32(1 + 0x3p-8f), 0x3f82);
    assert_int_equal(bf16_from_f32(1 + 0x1p-8f + 0x1p-23f), 0x3f81);
    assert_int_equal(bf16_from_f32(FLT_MAX), 0x7f80);
    assert_int_equal(bf16_from_f32(-FLT_MAX), 0xff80);
    assert_int_equal(bf16_from_f32(float_of(0x7f7f7fff)), 0x7f7f);
    assert_int_equal(bf16_from_f32(INFINITY), 0x7f80);
    assert_int_equal(bf16_from_f32(0x1p-126f), 0x0080);
    assert_int_equal(bf16_from_f32(nextafterf(0x1p-126f, 0)), 0x0000);
    assert_int_equal(bf16_from_f32(-nextafterf(0x1p-126f, 0)), 0x8000);
    assert_int_equal(bf16_from_f32(float_of(0x7f800001)), 0x7fc0);
    assert_int_equal(bf16_from_f32(float_of(0xffffffff)), 0xffff);
}

/* Calls visit for floats of every sign, exponent and leading fraction, with low bits around each tie. */
static void visit_floats(void (*visit)(float value)) {
    static const uint32_t low_bits[] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff};
    for (uint32_t high = 0; high < 1u << 19; high++)
        for (int i = 0; i < 6; i++) visit(float_of(high << 13 | low_bits[i]));
}

static void compare_with_arithmetic(float value) {
    if (isnan(value)) {
        assert_true(isnan(f32_from_f16(f16_from_f32(value))) && isnan(f32_from_bf16(bf16_from_f32(value))));
    } else if (isinf(value)) {
        assert_true(f32_from_f16(f16_from_f32(value)) == value && f32_from_bf16(bf16_from_f32(value)) == value);
    } else {
        if (f16_from_f32(value) != true_f16((double)value)) fail_msg("f16 of %a", (double)value);
        if (bf16_from_f32(value) != true_bf16((double)value)) fail_msg("bf16 of %a", (double)value);
    }
}

static void agrees_with_arithmetic(void **state) {
    (void)state;
    visit_floats(compare_with_arithmetic);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) static void compare_with_f16c(float value) {
    if (f16_from_f32(value) != _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)) fail_msg("f16 of %a", (double)value);
}

__attribute__((target("f16c"))) static void compare_all_halves_with_f16c(void) {
    for (uint32_t half = 0; half < 65536; half++)
        assert_int_equal(bits_of(f32_from_f16((uint16_t)half)), bits_of(_cvtsh_ss((uint16_t)half)));
}

__attribute__((target("avx512f,avx512bf16"))) static void compare_with_avx512_bf16(float value) {
    uint16_t halves[16];
    __m256bh converted = _mm512_cvtneps_pbh(_mm512_set1_ps(value));
    memcpy(halves, &converted, sizeof halves);
    if (bf16_from_f32(value) != halves[0]) fail_msg("bf16 of %a", (double)value);
}
#endif

static void agrees_with_hardware(void **state) {
    (void)state;
    int compared = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) { /* every such processor has F16C */
        visit_floats(compare_with_f16c);
        compare_all_halves_with_f16c();
        compared++;
    }
    if (__builtin_cpu_supports("avx512bf16")) {
        visit_floats(compare_with_avx512_bf16);
        compared++;
    }
#endif
    if (compared == 0) skip();
}

/* A double goes to a half in one rounding: by way of the nearest float these would be ties. */
static void one_rounding_from_double(void **state) {
    rng r = {.seed = 7};
    uint16_t half;
    (void)state;
    dtype_store(&half, BRAID_DTYPE_F16, 0, 1 + 0x1p-11 + 0x1p-40);
    assert_int_equal(half, 0x3c01);
    dtype_store(&half, BRAID_DTYPE_F16, 0, 1 + 0x3p-11 - 0x1p-40);
    assert_int_equal(half, 0x3c01);
    dtype_store(&half, BRAID_DTYPE_BF16, 0, -(1 + 0x1p-8 + 0x1p-50));
    assert_int_equal(half, 0xbf81);
    dtype_store(&half, BRAID_DTYPE_F16, 0, 65520 - 0x1p-30);
    assert_int_equal(half, 0x7bff);
    dtype_store(&half, BRAID_DTYPE_BF16, 0, DBL_MAX);
    assert_int_equal(half, 0x7f80);
    dtype_store(&half, BRAID_DTYPE_F16, 0, (double)NAN);
    assert_int_equal(half & 0x7fff, 0x7e00);
    for (int i = 0; i < 200000; i++) {
        int fraction_bits = (int)rng_between(&r, 8, 52);
        double tie = ldexp(floor(ldexp(1 + rng_uniform(&r), fraction_bits)), -fraction_bits);
        double value = ldexp(tie, (int)rng_between(&r, -30, 18)) * (1 + (double)rng_between(&r, -1, 1) * 0x1p-52);
        dtype_store(&half, BRAID_DTYPE_F16, 0, value);
        if (half != true_f16(value)) fail_msg("f16 of %a", value);
        dtype_store(&half, BRAID_DTYPE_BF16, 0, value);
        if (half != true_bf16(value)) fail_msg("bf16 of %a", value);
    }
}

static void integers_round_and_stay_in_range(void **state) {
    uint8_t u8[1];
    int32_t i32[1];
    int64_t i64[1];
    (void)state;
    static const struct {
        double value;
        int u8, i32;
        int64_t i64;
    } rows[] = {{2.5, 2, 2, 2},
                {3.5, 4, 4, 4},
                {-0.5, 0, 0, 0},
                {-7, 0, -7, -7},
                {300, 255, 300, 300},
                {1e300, 255, INT32_MAX, INT64_MAX},
                {-1e300, 0, INT32_MIN, INT64_MIN},
                {0x1p63, 255, INT32_MAX, INT64_MAX},
                {0x1p63 - 1024, 255, INT32_MAX, INT64_MAX - 1023},
                {(double)INFINITY, 255, INT32_MAX, INT64_MAX},
                {(double)NAN, 0, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dtype_store(u8, BRAID_DTYPE_U8, 0, rows[i].value);
        dtype_store(i32, BRAID_DTYPE_I32, 0, rows[i].value);
        dtype_store(i64, BRAID_DTYPE_I64, 0, rows[i].value);
        assert_int_equal(u8[0], rows[i].u8);
        assert_int_equal(i32[0], rows[i].i32);
        assert_true(i64[0] == rows[i].i64);
    }
}

/* Small integers are exact in every dtype, through the single-element and through the bulk calls. */
static void bulk_conversions(void **state) {
    enum { COUNT = 100 };
    float f32[COUNT], f32_back[COUNT];
    double f64[COUNT], f64_back[COUNT];
    int64_t stored[COUNT]; /* room for any dtype */
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        f32[i] = (float)i;
        f64[i] = i;
    }
    for (int d = 0; d < BRAID_DTYPE_COUNT; d++) {
        braid_dtype dtype = (braid_dtype)d;
        dtype_from_f32(stored, dtype, f32, COUNT);
        dtype_to_f32(f32_back, stored, dtype, COUNT);
        dtype_to_f64(f64_back, stored, dtype, COUNT);
        assert_memory_equal(f32, f32_back, sizeof f32);
        assert_memory_equal(f64, f64_back, sizeof f64);
        memset(stored, 0xff, sizeof stored);
        dtype_from_f64(stored, dtype, f64, COUNT);
        for (int i = 0; i < COUNT; i++) assert_true(dtype_load(stored, dtype, i) == i);
    }
    stored[0] = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1; /* above a float's tie: two roundings would go down */
    dtype_to_f32(f32_back, stored, BRAID_DTYPE_I64, 1);
    assert_true(f32_back[0] == 0x1p60f + 0x1p37f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(every_f16),
        cmocka_unit_test(every_bf16),
        cmocka_unit_test(ties_and_edges_f16),
        cmocka_unit_test(ties_and_edges_tf32),
        cmocka_unit_test(ties_and_edges_bf16),
        cmocka_unit_test(agrees_with_arithmetic),
        cmocka_unit_test(agrees_with_hardware),
        cmocka_unit_test(one_rounding_from_double),
        cmocka_unit_test(integers_round_and_stay_in_range),
        cmocka_unit_test(bulk_conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
