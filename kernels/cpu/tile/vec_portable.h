/*
 * Four floats, or two doubles, in the compiler's own vector types: any processor, no AVX, no fused
 * multiply-add; see vec_avx512.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_VEC_H
#define BRAID_KERNELS_CPU_TILE_VEC_H

#include <string.h>

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
