/*
 * Normal numbers of core/rng.h, a vector of Philox blocks at a time, in terms of vec_*.h. Included once per instruction
 * set. The bits of the blocks are those of core/rng.c; the logarithm and the cosine are made in float, with a relative
 * error of a few units: the radius from the distance to the nearer of 0 and 1, and the angle folded as an integer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/tile/images.h"

#define NOISE_ROUNDS 10

typedef int32_t vec_integers __attribute__((vector_size(4 * VEC_LANES)));

VEC_INLINE vec words_to_vec(vec_words a) { return __builtin_convertvector((vec_integers)a, vec); }
VEC_INLINE vec_words words_spread(uint32_t a) { return (vec_words){0} + a; }
VEC_INLINE vec words_select(vec_words where, vec a, vec b) {
    return (vec)((where & (vec_words)a) | (~where & (vec_words)b));
}

/* Philox4x32-10 of the blocks whose numbers are in c[0]. */
VEC_INLINE void philox_words(vec_words c[4], const rng *numbers) {
    uint32_t k0 = (uint32_t)numbers->seed, k1 = (uint32_t)(numbers->seed >> 32);
    for (int round = 0; round < NOISE_ROUNDS; round++) {
        vec_words high0, high1;
        vec_words low0 = vec_multiply_wide(c[0], 0xD2511F53, &high0),
                  low1 = vec_multiply_wide(c[2], 0xCD9E8D57, &high1);
        c[0] = high1 ^ c[1] ^ k0;
        c[2] = high0 ^ c[3] ^ k1;
        c[1] = low1;
        c[3] = low0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

/* sqrt(-2 log u) with u = (w + 1/2) / 2^32. The logarithm is 2 atanh(s) + e log 2 with a small s. */
VEC_INLINE vec noise_radius(vec_words w) {
    vec one = vec_spread(1.0f);
    vec_words near_one = words_spread(0) - (w >> 31);
    vec away = vec_mul(vec_add(words_to_vec(w ^ near_one), vec_spread(0.5f)), vec_spread(0x1p-32f));
    vec_words e = (vec_words)((vec_integers)((vec_words)away - 0x3f3504f3u) >> 23);
    vec m = (vec)((vec_words)away - (e << 23)); /* [sqrt(1/2), sqrt(2)) */
    vec s = vec_div(words_select(near_one, away, vec_sub(m, one)),
                    words_select(near_one, vec_sub(away, vec_spread(2.0f)), vec_add(m, one)));
    vec square = vec_mul(s, s), sum = vec_spread(1.0f / 13);
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 11));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 9));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 7));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 5));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 3));
    sum = vec_mul_add(sum, square, one);
    vec whole = vec_mul(words_to_vec(e & ~near_one), vec_spread(0.69314718f));
    vec log = vec_mul_add(vec_add(s, s), sum, whole);
    return vec_sqrt(vec_mul(log, vec_spread(-2.0f)));
}

/* cos(2 pi w / 2^32): the sine of what the angle, either way, lacks to a quarter turn. */
VEC_INLINE vec noise_cosine(vec_words w) {
    vec_words negative = words_spread(0) - (w >> 31), size = (w ^ negative) - negative;
    vec angle = vec_mul(words_to_vec(0x40000000u - size), vec_spread(1.4629180793e-9f)); /* 2 pi / 2^32 */
    vec square = vec_mul(angle, angle), sum = vec_spread(1.0f / 6227020800.0f);
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 39916800.0f));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 362880.0f));
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 5040.0f));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 120.0f));
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 6.0f));
    return vec_mul(angle, vec_mul_add(sum, square, vec_spread(1.0f)));
}

/* Two numbers from each of VEC_LANES blocks, in their order. */
VEC_INLINE void noise_blocks(float out[2 * VEC_LANES], const rng *numbers, uint64_t block) {
    float pair[2][VEC_LANES];
    uint32_t low[VEC_LANES], high[VEC_LANES];
    for (int lane = 0; lane < VEC_LANES; lane++) {
        low[lane] = (uint32_t)(block + (uint64_t)lane);
        high[lane] = (uint32_t)((block + (uint64_t)lane) >> 32);
    }
    vec_words c[4] = {
        {0}, {0}, words_spread((uint32_t)numbers->stream), words_spread((uint32_t)(numbers->stream >> 32))};
    memcpy(&c[0], low, sizeof low);
    memcpy(&c[1], high, sizeof high);
    philox_words(c, numbers);
    vec_store(pair[0], vec_mul(noise_radius(c[0]), noise_cosine(c[1])));
    vec_store(pair[1], vec_mul(noise_radius(c[2]), noise_cosine(c[3])));
    for (int lane = 0; lane < 2 * VEC_LANES; lane++) out[lane] = pair[lane % 2][lane / 2];
}

VEC_TARGET static void normals(float *to, const rng *numbers, int64_t first, int64_t count) {
    float out[2 * VEC_LANES];
    for (int64_t j = 0; j < count; j += 2 * VEC_LANES) {
        int64_t some = count - j < 2 * VEC_LANES ? count - j : 2 * VEC_LANES;
        noise_blocks(out, numbers, (uint64_t)(first + j) / 2);
        memcpy(to + j, out, (size_t)some * sizeof *to);
    }
}
