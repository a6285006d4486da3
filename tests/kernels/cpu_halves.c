/*
 * Tests of the conversion of halves (kernels/cpu/isa/halves.h) for every instruction set that this machine has:
 * all 65,536 halves made floats, and floats made halves around every rounding, all with the bits of core/dtype.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/dtype.h"
#include "core/rng.h"
#include "kernels/cpu/isa/channels.h"

enum { PATTERNS = 65536, MOST = 100, GUARD = 40 };

static const struct {
    unsigned feature;
    const channel_loops *loops;
} sets[] = {{FEATURE_AVX512_BF16, &channels_avx512_bf16},
            {FEATURE_AVX512, &channels_avx512},
            {FEATURE_AVX2, &channels_avx2},
            {0, &channels_portable}};
enum { SETS = sizeof sets / sizeof sets[0] };

static const struct {
    braid_dtype dtype;
    float (*widen)(uint16_t half);
    uint16_t (*narrow)(float value);
} formats[] = {{BRAID_DTYPE_BF16, f32_from_bf16, bf16_from_f32}, {BRAID_DTYPE_F16, f32_from_f16, f16_from_f32}};

static const halves *halves_at(int set, int format) {
    if ((cpu_features() & sets[set].feature) != sets[set].feature) {
        print_message("%s is left out: not available here\n", sets[set].loops->name);
        return NULL;
    }
    return formats[format].dtype == BRAID_DTYPE_BF16 ? &sets[set].loops->bf16 : &sets[set].loops->f16;
}

static void assert_same_float(float got, float expected, uint16_t half) {
    if (!memcmp(&got, &expected, sizeof got)) return;
    print_message("widen of %04x: expected %a, got %a\n", (unsigned)half, (double)expected, (double)got);
    fail_msg("%s", "other bits than core/dtype");
}

static void widen_has_the_bits_of_dtype(void **state) {
    static uint16_t from[PATTERNS];
    static float to[PATTERNS];
    (void)state;
    for (int i = 0; i < PATTERNS; i++) from[i] = (uint16_t)i;
    for (int set = 0; set < SETS; set++) {
        for (int format = 0; format < 2; format++) {
            const halves *h = halves_at(set, format);
            if (!h) continue;
            h->widen(to, from, PATTERNS);
            for (int i = 0; i < PATTERNS; i++) assert_same_float(to[i], formats[format].widen(from[i]), from[i]);
        }
    }
}

static void check_narrow(const halves *h, int format, const float *from, int count) {
    static uint16_t to[PATTERNS];
    h->narrow(to, from, count);
    for (int i = 0; i < count; i++) {
        uint16_t expected = formats[format].narrow(from[i]);
        if (to[i] == expected) continue;
        print_message("narrow of %a: expected %04x, got %04x\n", (double)from[i], (unsigned)expected, (unsigned)to[i]);
        fail_msg("%s", "other bits than core/dtype");
    }
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Both neighbours of every half, the point between them and what lies a bit beside it: every tie, every carry into the
 * exponent, the edges of zero, denormals, infinity and NaN. */
static void narrow_has_the_bits_of_dtype(void **state) {
    static const int32_t beside[] = {-1, 0, 1, 0x7fff, 0x8000, 0x8001, 0xfff, 0x1000, 0x1001};
    static float from[PATTERNS];
    (void)state;
    for (int format = 0; format < 2; format++) {
        for (size_t j = 0; j < sizeof beside / sizeof beside[0]; j++) {
            for (int i = 0; i < PATTERNS; i++) {
                float value = formats[format].widen((uint16_t)i);
                uint32_t bits;
                memcpy(&bits, &value, sizeof bits);
                from[i] = float_of(bits + (uint32_t)beside[j]);
            }
            for (int set = 0; set < SETS; set++) {
                const halves *h = halves_at(set, format);
                if (h) check_narrow(h, format, from, PATTERNS);
            }
        }
    }
}

static void narrow_of_random_bits(void **state) {
    static float from[PATTERNS];
    rng r = {5, 0, 0};
    (void)state;
    for (int round = 0; round < 32; round++) {
        for (int i = 0; i < PATTERNS; i++) from[i] = float_of((uint32_t)rng_between(&r, 0, UINT32_MAX));
        for (int set = 0; set < SETS; set++) {
            for (int format = 0; format < 2; format++) {
                const halves *h = halves_at(set, format);
                if (h) check_narrow(h, format, from, PATTERNS);
            }
        }
    }
}

/* Every count and place: what lies beside stays, what lies within is converted. */
static void nothing_beside_is_touched(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        for (int format = 0; format < 2; format++) {
            const halves *h = halves_at(set, format);
            for (int count = 0; h && count <= MOST; count++) {
                float wide[GUARD + MOST + GUARD], back[GUARD + MOST + GUARD];
                uint16_t half[GUARD + MOST + GUARD];
                int first = GUARD - count % 19, end = first + count;
                for (int i = 0; i < GUARD + MOST + GUARD; i++) {
                    wide[i] = (float)(i + 1) * 0.37f;
                    half[i] = 0x1234;
                    back[i] = 77;
                }
                h->narrow(half + first, wide + first, count);
                h->widen(back + first, half + first, count);
                for (int i = 0; i < GUARD + MOST + GUARD; i++) {
                    int within = i >= first && i < end;
                    assert_int_equal(half[i], within ? formats[format].narrow(wide[i]) : 0x1234);
                    assert_same_float(back[i], within ? formats[format].widen(half[i]) : 77, half[i]);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widen_has_the_bits_of_dtype),
        cmocka_unit_test(narrow_has_the_bits_of_dtype),
        cmocka_unit_test(narrow_of_random_bits),
        cmocka_unit_test(nothing_beside_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
