/*
 * Four floats, or two doubles, in the compiler's own vector types: any processor, no AVX, no fused
 * multiply-add; see vec_avx512.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_VEC_H
#define BRAID_KERNELS_CPU_ISA_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/dtype.h"

#define VEC_TARGET
#define VEC_INLINE static inline __attribute__((always_inline))
#define VEC_LANES 4
#define VEC_DOUBLES 2

typedef float vec __attribute__((vector_size(16)));
typedef double vec_double __attribute__((vector_size(16)));

VEC_INLINE vec vec_zero(void) { return (vec){0, 0, 0, 0}; }
VEC_INLINE vec vec_load(const float *from) {
    vec a;
    memcpy(&a, from, sizeof a);
    return a;
}
VEC_INLINE void vec_store(float *to, vec a) { memcpy(to, &a, sizeof a); }
VEC_INLINE vec vec_spread(float a) { return (vec){a, a, a, a}; }
VEC_INLINE vec vec_add(vec a, vec b) { return a + b; }
VEC_INLINE vec vec_sub(vec a, vec b) { return a - b; }
VEC_INLINE vec vec_mul_add(vec a, vec b, vec c) { return a * b + c; }

typedef int32_t vec_mask __attribute__((vector_size(16)));

VEC_INLINE vec_mask vec_greater(vec a, vec b) { return a > b; }
VEC_INLINE vec_mask vec_equal(vec a, vec b) { return a == b; }
VEC_INLINE vec_mask vec_beats(vec a, vec b) { return (a > b) | (((vec_mask)a & 0x7fffffff) > 0x7f800000); }
VEC_INLINE vec vec_select(vec_mask where, vec a, vec b) {
    return (vec)((where & (vec_mask)a) | (~where & (vec_mask)b));
}

VEC_INLINE vec vec_mul(vec a, vec b) { return a * b; }
VEC_INLINE vec vec_div(vec a, vec b) { return a / b; }
VEC_INLINE vec vec_sqrt(vec a) { return (vec){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }
VEC_INLINE vec vec_abs(vec a) { return (vec)((vec_mask)a & 0x7fffffff); }
VEC_INLINE vec vec_at_least(vec a, vec low) { return vec_select(vec_greater(a, low), a, low); }
VEC_INLINE vec vec_at_most(vec a, vec high) { return vec_select(vec_greater(high, a), a, high); }
VEC_INLINE vec vec_add_exponent(vec a, vec k) {
    typedef uint32_t bits __attribute__((vector_size(16)));
    return (vec)((bits)a + ((bits)k << 23));
}

VEC_INLINE vec vec_load_some(const float *from, int64_t count) {
    vec a = vec_zero();
    for (int64_t i = 0; i < count; i++) a[i] = from[i];
    return a;
}
VEC_INLINE void vec_store_some(float *to, vec a, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = a[i];
}

VEC_INLINE vec vec_pick_bytes(const uint8_t *from, const uint8_t *places) {
    return (vec){from[places[0]], from[places[1]], from[places[2]], from[places[3]]};
}

typedef uint32_t vec_bits __attribute__((vector_size(16)));
typedef uint16_t vec_half __attribute__((vector_size(8)));

VEC_INLINE vec_half vec_half_load(const uint16_t *from) {
    vec_half a;
    memcpy(&a, from, sizeof a);
    return a;
}
VEC_INLINE void vec_half_store(uint16_t *to, vec_half a) { memcpy(to, &a, sizeof a); }
VEC_INLINE vec_half vec_half_load_some(const uint16_t *from, int64_t count) {
    vec_half a = {0, 0, 0, 0};
    for (int64_t i = 0; i < count; i++) a[i] = from[i];
    return a;
}
VEC_INLINE void vec_half_store_some(uint16_t *to, vec_half a, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = a[i];
}

VEC_INLINE void vec_stream(float *to, vec a) { vec_store(to, a); }
VEC_INLINE void vec_half_stream(uint16_t *to, vec_half a) { vec_half_store(to, a); }
VEC_INLINE void vec_fence(void) {}

/* The bits of floats, with zeros of their sign where the exponent is zero. */
VEC_INLINE vec_bits vec_flush(vec_bits a) { return a & ~((vec_bits)((a & 0x7f800000u) == 0) & 0x7fffffffu); }
VEC_INLINE vec vec_from_bf16(vec_half a) { return (vec)vec_flush(__builtin_convertvector(a, vec_bits) << 16); }
VEC_INLINE vec_bits vec_nan(vec a) { return (vec_bits)(((vec_mask)a & 0x7fffffff) > 0x7f800000); }
VEC_INLINE vec vec_quiet(vec a) { return (vec)((vec_bits)a | (vec_nan(a) & 0x00400000u)); }
VEC_INLINE vec_half vec_to_bf16(vec a) {
    vec_bits bits = vec_flush((vec_bits)a), nan = vec_nan(a), rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return __builtin_convertvector(((nan & (vec_bits)vec_quiet(a)) | (~nan & rounded)) >> 16, vec_half);
}
VEC_INLINE vec vec_from_f16(vec_half a) {
    return (vec){f32_from_f16(a[0]), f32_from_f16(a[1]), f32_from_f16(a[2]), f32_from_f16(a[3])};
}
VEC_INLINE vec_half vec_to_f16(vec a) {
    return (vec_half){f16_from_f32(a[0]), f16_from_f32(a[1]), f16_from_f32(a[2]), f16_from_f32(a[3])};
}

VEC_INLINE vec_double vec_double_zero(void) { return (vec_double){0, 0}; }
VEC_INLINE vec_double vec_double_load(const double *from) {
    vec_double a;
    memcpy(&a, from, sizeof a);
    return a;
}
VEC_INLINE vec_double vec_double_spread(double a) { return (vec_double){a, a}; }
VEC_INLINE vec_double vec_double_low(vec a) { return (vec_double){(double)a[0], (double)a[1]}; }
VEC_INLINE vec_double vec_double_high(vec a) { return (vec_double){(double)a[2], (double)a[3]}; }
VEC_INLINE vec_double vec_double_mul(vec_double a, vec_double b) { return a * b; }
VEC_INLINE double vec_double_sum(vec_double a) { return a[0] + a[1]; }
VEC_INLINE vec_double vec_double_from(const float *from) { return (vec_double){(double)from[0], (double)from[1]}; }
VEC_INLINE void vec_double_store(double *to, vec_double a) { memcpy(to, &a, sizeof a); }
VEC_INLINE vec_double vec_double_add(vec_double a, vec_double b) { return a + b; }
VEC_INLINE vec_double vec_double_sub(vec_double a, vec_double b) { return a - b; }
VEC_INLINE vec_double vec_double_mul_add(vec_double a, vec_double b, vec_double c) { return a * b + c; }

typedef uint64_t vec_words __attribute__((vector_size(16)));

VEC_INLINE vec_words vec_words_spread(uint64_t a) { return (vec_words){a, a}; }
VEC_INLINE vec_words vec_words_load(const uint64_t *from) { return (vec_words){from[0], from[1]}; }
VEC_INLINE vec_words vec_words_add(vec_words a, vec_words b) { return a + b; }
VEC_INLINE vec_words vec_words_product(vec_words a, vec_words b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
VEC_INLINE vec_words vec_words_high(vec_words a) { return a >> 32; }
VEC_INLINE vec_words vec_words_xor(vec_words a, vec_words b, vec_words c) { return a ^ b ^ c; }
VEC_INLINE void vec_words_store(uint32_t *to, vec_words a, vec_words b, vec_words c, vec_words d) {
    for (int lane = 0; lane < 2; lane++, to += 4) {
        const uint32_t words[4] = {(uint32_t)a[lane], (uint32_t)b[lane], (uint32_t)c[lane], (uint32_t)d[lane]};
        memcpy(to, words, sizeof words);
    }
}
VEC_INLINE vec vec_keep(vec a, const uint32_t *words, int32_t limit) {
    vec_bits bits;
    memcpy(&bits, words, sizeof bits);
    return (vec)((vec_mask)a & ((vec_mask)(bits >> 8) >= limit));
}

#endif
