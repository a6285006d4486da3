/*
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
 * Number `index` of (seed, stream) is word index % 4 of the block with counter {index / 4, stream},
 * low words first, and key seed. Normals use only + - * / and sqrt, which IEEE 754 rounds exactly,
 * because the last bit of a libm's log and cos differs from one library to the next.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/rng.h"

#include <math.h>
#include <string.h>

#define PHILOX_ROUNDS 10

void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t product0 = (uint64_t)0xD2511F53 * c0;
        uint64_t product1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The four words of the block that the next number is in. */
static void next_block(const rng *r, uint32_t words[4]) {
    uint64_t block = r->index / 4;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)r->stream,
                                 (uint32_t)(r->stream >> 32)};
    const uint32_t key[2] = {(uint32_t)r->seed, (uint32_t)(r->seed >> 32)};
    philox4x32(words, counter, key);
}

uint32_t rng_u32(rng *r) {
    uint32_t words[4];
    next_block(r, words);
    return words[r->index++ % 4];
}

double rng_uniform(rng *r) { return rng_u32(r) * 0x1p-32; }

/* The value of a polynomial in x, highest coefficient first. */
static double polynomial(const double *coefficients, int count, double x) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double shifted = sum * x; /* a statement of its own, so that no compiler fuses it with the sum */
        sum = shifted + coefficients[i];
    }
    return sum;
}

/* log(x) for 0 < x <= 1: 2 atanh((m - 1) / (m + 1)) for the mantissa m, near 1. */
static double portable_log(double x) {
    static const double odd_reciprocals[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                             1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    uint64_t bits;
    double mantissa;
    memcpy(&bits, &x, sizeof bits); /* frexp for normal numbers */
    int exponent = (int)(bits >> 52) - 1022;
    bits = (bits & 0xFFFFFFFFFFFFF) | (uint64_t)1022 << 52;
    memcpy(&mantissa, &bits, sizeof mantissa);
    int low = mantissa < 0.70710678118654752; /* no branch: it would be guessed wrongly every other time */
    mantissa *= 1 + low;
    exponent -= low;
    double s = (mantissa - 1) / (mantissa + 1);
    double series = 2 * s * polynomial(odd_reciprocals, 11, s * s);
    double whole = exponent * 0.69314718055994531;
    return whole + series;
}

/* cos(2 pi turn) for 0 <= turn < 1, by symmetry from an eighth of a turn. */
static double portable_cos(double turn) {
    static const double cosine[] = {1.0 / 20922789888000,
                                    -1.0 / 87178291200,
                                    1.0 / 479001600,
                                    -1.0 / 3628800,
                                    1.0 / 40320,
                                    -1.0 / 720,
                                    1.0 / 24,
                                    -1.0 / 2,
                                    1.0};
    static const double sine[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                                  -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1.0};
    double folded = turn > 0.5 ? 1 - turn : turn;
    double sign = folded > 0.25 ? -1 : 1;
    if (folded > 0.25) folded = 0.5 - folded;
    double near = folded > 0.125 ? 0.25 - folded : folded;
    double angle = 6.2831853071795865 * near;
    double square = angle * angle;
    double by_sine = angle * polynomial(sine, 8, square), by_cosine = polynomial(cosine, 9, square);
    return sign * (folded > 0.125 ? by_sine : by_cosine);
}

/* Box and Muller's cosine half: two draws a number. */
static double normal_from(uint32_t radius_draw, uint32_t turn_draw) {
    double radius = (radius_draw + 0.5) * 0x1p-32;
    return sqrt(-2 * portable_log(radius)) * portable_cos(turn_draw * 0x1p-32);
}

double rng_normal(rng *r) {
    uint32_t radius = rng_u32(r);
    return normal_from(radius, rng_u32(r));
}

void rng_normals(rng *r, double *out, int64_t count) {
    for (int64_t j = 0; j < count;) {
        uint32_t words[4];
        if (r->index % 4 || count - j < 2) {
            out[j++] = rng_normal(r);
            continue;
        }
        next_block(r, words);
        r->index += 4;
        out[j++] = normal_from(words[0], words[1]);
        out[j++] = normal_from(words[2], words[3]);
    }
}

/* Two draws a number, whatever the range; a value is likelier than another by at most (high - low + 1) / 2^64. */
int64_t rng_between(rng *r, int64_t low, int64_t high) {
    uint64_t draw = (uint64_t)rng_u32(r) << 32;
    draw |= rng_u32(r);
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t step = span ? (uint64_t)(((unsigned __int128)draw * span) >> 64) : draw;
    return (int64_t)((uint64_t)low + step);
}
