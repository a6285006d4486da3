/*
 * Tests of core/rng: the published vectors of Philox4x32-10, the counter's layout, and the
 * distributions (all seeds are fixed, so these tests cannot fail by chance).
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>

#include "core/rng.h"

/* From the known-answer file of Random123 (kat_vectors, philox4x32 with 10 rounds). */
static void published_vectors(void **state) {
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t out[4];
    (void)state;
    for (int i = 0; i < 3; i++) {
        philox4x32(out, vectors[i].counter, vectors[i].key);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
}

static void counter_layout(void **state) {
    const uint32_t counter[4] = {0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, key[2] = {0xa4093822, 0x299f31d0};
    uint32_t block[4];
    (void)state;
    rng r = {.seed = 0x299f31d0a4093822, .stream = 0x0370734413198a2e, .index = UINT64_C(0x05a308d3243f6a88) << 2};
    philox4x32(block, counter, key);
    for (int i = 0; i < 4; i++) assert_int_equal(rng_u32(&r), block[i]);
    assert_true(r.index == (UINT64_C(0x05a308d3243f6a88) << 2) + 4);
    rng zero = {0};
    assert_int_equal(rng_u32(&zero), 0x6627e8d5);
}

static void any_order_gives_the_same(void **state) {
    uint32_t forwards[100];
    rng r = {.seed = 1, .stream = 2};
    (void)state;
    for (int i = 0; i < 100; i++) forwards[i] = rng_u32(&r);
    for (int i = 99; i >= 0; i--) {
        rng jumped = {.seed = 1, .stream = 2, .index = (uint64_t)i};
        assert_int_equal(rng_u32(&jumped), forwards[i]);
    }
    rng other_seed = {.seed = 2, .stream = 2}, other_stream = {.seed = 1, .stream = 3};
    assert_int_not_equal(rng_u32(&other_seed), forwards[0]);
    assert_int_not_equal(rng_u32(&other_stream), forwards[0]);
}

static void uniform(void **state) {
    enum { COUNT = 100000 };
    double sum = 0, sum_of_squares = 0;
    rng r = {.seed = 3};
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        double value = rng_uniform(&r);
        assert_true(value >= 0 && value < 1);
        sum += value;
        sum_of_squares += value * value;
    }
    assert_true(fabs(sum / COUNT - 0.5) < 0.005);
    assert_true(fabs(sum_of_squares / COUNT - 1.0 / 3) < 0.005);
    assert_true(r.index == COUNT);
}

/* The moments, and every value against the formula by the C library's own functions. */
static void normal(void **state) {
    enum { COUNT = 100000 };
    double moments[5] = {0};
    rng r = {.seed = 4};
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        rng same = r;
        double value = rng_normal(&r);
        double radius = sqrt(-2 * log((rng_u32(&same) + 0.5) * 0x1p-32));
        double expected = radius * cos(2 * 3.14159265358979324 * (rng_u32(&same) * 0x1p-32));
        assert_true(fabs(value - expected) < 1e-14);
        for (int power = 1; power <= 4; power++) moments[power] += pow(value, power) / COUNT;
    }
    assert_true(fabs(moments[1]) < 0.01);
    assert_true(fabs(moments[2] - 1) < 0.02);
    assert_true(fabs(moments[3]) < 0.05);
    assert_true(fabs(moments[4] - 3) < 0.1);
    assert_true(r.index == 2 * COUNT);
}

/* The bits are part of the contract: equal on every machine. */
static void normal_bits(void **state) {
    rng r = {.seed = 5, .stream = 6};
    (void)state;
    assert_true(rng_normal(&r) == 0x1.a612ee94dcd1dp+0);
    assert_true(rng_normal(&r) == 0x1.a205b88eca1a8p-3);
    assert_true(rng_normal(&r) == 0x1.243a3637c781cp+1);
}

/* Many at once are the same ones, from any place of a block on and in any number. */
static void normals(void **state) {
    (void)state;
    for (uint64_t first = 0; first < 4; first++) {
        for (int count = 0; count < 9; count++) {
            double many[9] = {0};
            rng r = {.seed = 7, .stream = 3, .index = first}, same = r;
            rng_normals(&r, many, count);
            for (int j = 0; j < count; j++) assert_true(many[j] == rng_normal(&same));
            assert_true(r.index == same.index);
            for (int j = count; j < 9; j++) assert_true(many[j] == 0);
        }
    }
}

static void between(void **state) {
    int seen[7] = {0};
    rng r = {.seed = 8};
    (void)state;
    for (int i = 0; i < 7000; i++) {
        int64_t value = rng_between(&r, -3, 3);
        assert_true(value >= -3 && value <= 3);
        seen[value + 3]++;
    }
    for (int i = 0; i < 7; i++) assert_in_range(seen[i], 900, 1100);
    assert_int_equal(rng_between(&r, 42, 42), 42);
    int64_t negative = 0;
    for (int i = 0; i < 1000; i++) {
        negative += rng_between(&r, INT64_MIN, INT64_MAX) < 0;
        int64_t extreme = rng_between(&r, INT64_MAX - 1, INT64_MAX);
        assert_true(extreme >= INT64_MAX - 1);
    }
    assert_in_range(negative, 400, 600);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),
        cmocka_unit_test(counter_layout),
        cmocka_unit_test(any_order_gives_the_same),
        cmocka_unit_test(uniform),
        cmocka_unit_test(normal),
        cmocka_unit_test(normal_bits),
        cmocka_unit_test(normals),
        cmocka_unit_test(between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
