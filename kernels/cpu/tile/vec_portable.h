/*
 * Four floats, or two doubles, in the compiler's own vector types: any processor, no AVX, no fused
 * multiply-add; see vec_avx512.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_VEC_H
#define BRAID_KERNELS_CPU_TILE_VEC_H

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
typedef uint16_t vec_halves __attribute__((vector_size(8)));

/* a as bf16 wants it in its upper bits, from those bits of a that are rounded already. */
VEC_INLINE vec_bits vec_bf16_rules(vec_bits a, vec_bits rounded) {
    vec_bits small = (vec_bits)((a & 0x7f800000u) == 0);
    vec_bits nan = (vec_bits)((vec_mask)(a & 0x7fffffffu) > 0x7f800000);
    rounded = (small & a & 0x80000000u) | (~small & rounded);
    return (nan & (a | 0x00400000u)) | (~nan & rounded);
}
VEC_INLINE vec vec_load_bf16(const uint16_t *from) {
    vec_halves halves;
    memcpy(&halves, from, sizeof halves);
    vec_bits bits = __builtin_convertvector(halves, vec_bits) << 16;
    return (vec)vec_bf16_rules(bits, bits);
}
VEC_INLINE void vec_store_bf16(uint16_t *to, vec a) {
    vec_bits bits = (vec_bits)a, rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    vec_halves halves = __builtin_convertvector(vec_bf16_rules(bits, rounded) >> 16, vec_halves);
    memcpy(to, &halves, sizeof halves);
}
VEC_INLINE vec vec_load_f16(const uint16_t *from) {
    return (vec){f32_from_f16(from[0]), f32_from_f16(from[1]), f32_from_f16(from[2]), f32_from_f16(from[3])};
}
VEC_INLINE void vec_store_f16(uint16_t *to, vec a) {
    for (int i = 0; i < VEC_LANES; i++) to[i] = f16_from_f32(a[i]);
}

VEC_INLINE vec_double vec_double_zero(void) { return (vec_double){0, 0}; }
VEC_INLINE vec_double vec_double_load(const double *from) {
    vec_double a;
    memcpy(&a, from, sizeof a);
    return a;
}
VEC_INLINE vec_double vec_double_from(const float *from) { return (vec_double){(double)from[0], (double)from[1]}; }
VEC_INLINE void vec_double_store(double *to, vec_double a) { memcpy(to, &a, sizeof a); }
VEC_INLINE vec_double vec_double_add(vec_double a, vec_double b) { return a + b; }
VEC_INLINE vec_double vec_double_sub(vec_double a, vec_double b) { return a - b; }
VEC_INLINE vec_double vec_double_mul_add(vec_double a, vec_double b, vec_double c) { return a * b + c; }

#endif
