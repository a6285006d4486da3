/*
 * Sixteen floats, or eight doubles, in an AVX-512 register. The files vec_*.h define the same names for
 * three instruction sets; a *_body.h is included after one of them and so compiled for that set.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_VEC_H
#define BRAID_KERNELS_CPU_TILE_VEC_H

#include <immintrin.h>

#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define VEC_INLINE static inline __attribute__((always_inline)) VEC_TARGET
#define VEC_LANES 16
#define VEC_DOUBLES 8

typedef __m512 vec;
typedef __m512d vec_double;

VEC_INLINE vec vec_zero(void) { return _mm512_setzero_ps(); }
VEC_INLINE vec vec_load(const float *from) { return _mm512_loadu_ps(from); }
VEC_INLINE void vec_store(float *to, vec a) { _mm512_storeu_ps(to, a); }
VEC_INLINE vec vec_spread(float a) { return _mm512_set1_ps(a); }
VEC_INLINE vec vec_add(vec a, vec b) { return _mm512_add_ps(a, b); }
VEC_INLINE vec vec_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
VEC_INLINE vec vec_mul_add(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); } /* a*b + c */

VEC_INLINE vec_double vec_double_zero(void) { return _mm512_setzero_pd(); }
VEC_INLINE vec_double vec_double_load(const double *from) { return _mm512_loadu_pd(from); }
VEC_INLINE vec_double vec_double_from(const float *from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }
VEC_INLINE void vec_double_store(double *to, vec_double a) { _mm512_storeu_pd(to, a); }
VEC_INLINE vec_double vec_double_add(vec_double a, vec_double b) { return _mm512_add_pd(a, b); }
VEC_INLINE vec_double vec_double_sub(vec_double a, vec_double b) { return _mm512_sub_pd(a, b); }
VEC_INLINE vec_double vec_double_mul_add(vec_double a, vec_double b, vec_double c) { return _mm512_fmadd_pd(a, b, c); }

#endif
