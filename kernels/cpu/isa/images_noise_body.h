/*
 * Normal numbers of core/rng.h from the words of its sequence, in terms of vec_*.h. Included once per instruction set.
 * The logarithm and the cosine are made in float, with a relative error of a few units: the radius from the distance to
 * the nearer of 0 and 1, and the angle folded as an integer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/isa/images.h"

typedef uint32_t noise_words __attribute__((vector_size(4 * VEC_LANES)));
typedef int32_t noise_integers __attribute__((vector_size(4 * VEC_LANES)));

VEC_INLINE vec words_to_vec(noise_words a) { return __builtin_convertvector((noise_integers)a, vec); }
VEC_INLINE noise_words words_spread(uint32_t a) { return (noise_words){0} + a; }
VEC_INLINE vec words_select(noise_words where, vec a, vec b) {
    return (vec)((where & (noise_words)a) | (~where & (noise_words)b));
}

/* sqrt(-2 log u) with u = (w + 1/2) / 2^32. The logarithm is 2 atanh(s) + e log 2 with a small s. */
VEC_INLINE vec noise_radius(noise_words w) {
    vec one = vec_spread(1.0f);
    noise_words near_one = words_spread(0) - (w >> 31);
    vec away = vec_mul(vec_add(words_to_vec(w ^ near_one), vec_spread(0.5f)), vec_spread(0x1p-32f));
    noise_words e = (noise_words)((noise_integers)((noise_words)away - 0x3f3504f3u) >> 23);
    vec m = (vec)((noise_words)away - (e << 23)); /* [sqrt(1/2), sqrt(2)) */
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
VEC_INLINE vec noise_cosine(noise_words w) {
    noise_words negative = words_spread(0) - (w >> 31), size = (w ^ negative) - negative;
    vec angle = vec_mul(words_to_vec(0x40000000u - size), vec_spread(1.4629180793e-9f)); /* 2 pi / 2^32 */
    vec square = vec_mul(angle, angle), sum = vec_spread(1.0f / 6227020800.0f);
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 39916800.0f));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 362880.0f));
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 5040.0f));
    sum = vec_mul_add(sum, square, vec_spread(1.0f / 120.0f));
    sum = vec_mul_add(sum, square, vec_spread(-1.0f / 6.0f));
    return vec_mul(angle, vec_mul_add(sum, square, vec_spread(1.0f)));
}

VEC_TARGET static void normals(float *to, const uint32_t *words, int64_t count) {
    for (int64_t j = 0; j < count; j += VEC_LANES) {
        uint32_t pairs[2][VEC_LANES];
        noise_words radius, turn;
        for (int lane = 0; lane < 2 * VEC_LANES; lane++) pairs[lane % 2][lane / 2] = words[2 * j + lane];
        memcpy(&radius, pairs[0], sizeof radius);
        memcpy(&turn, pairs[1], sizeof turn);
        vec_store(to + j, vec_mul(noise_radius(radius), noise_cosine(turn)));
    }
}
