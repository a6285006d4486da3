/*
 * Eight floats, or four doubles, in an AVX2 register; see vec_avx512.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_VEC_H
#define BRAID_KERNELS_CPU_ISA_VEC_H

#include <immintrin.h>
#include <stdint.h>

#define VEC_TARGET __attribute__((target("avx2,fma,f16c")))
#define VEC_INLINE static inline __attribute__((always_inline)) VEC_TARGET
#define VEC_LANES 8
#define VEC_DOUBLES 4

typedef __m256 vec;
typedef __m256d vec_double;

VEC_INLINE vec vec_zero(void) { return _mm256_setzero_ps(); }
VEC_INLINE vec vec_load(const float *from) { return _mm256_loadu_ps(from); }
VEC_INLINE void vec_store(float *to, vec a) { _mm256_storeu_ps(to, a); }
VEC_INLINE vec vec_spread(float a) { return _mm256_set1_ps(a); }
VEC_INLINE vec vec_add(vec a, vec b) { return _mm256_add_ps(a, b); }
VEC_INLINE vec vec_sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
VEC_INLINE vec vec_mul_add(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); } /* a*b + c */

VEC_INLINE vec vec_mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
VEC_INLINE vec vec_div(vec a, vec b) { return _mm256_div_ps(a, b); }
VEC_INLINE vec vec_sqrt(vec a) { return _mm256_sqrt_ps(a); }
VEC_INLINE vec vec_abs(vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
VEC_INLINE vec vec_at_least(vec a, vec low) { return _mm256_max_ps(a, low); }
VEC_INLINE vec vec_at_most(vec a, vec high) { return _mm256_min_ps(a, high); }
VEC_INLINE vec vec_add_exponent(vec a, vec k) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_slli_epi32(_mm256_castps_si256(k), 23)));
}

/* The first `count` lanes. */
VEC_INLINE __m256i vec_first_lanes(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
VEC_INLINE vec vec_load_some(const float *from, int64_t count) {
    return _mm256_maskload_ps(from, vec_first_lanes(count));
}
VEC_INLINE void vec_store_some(float *to, vec a, int64_t count) { _mm256_maskstore_ps(to, vec_first_lanes(count), a); }

VEC_INLINE vec vec_pick_bytes(const uint8_t *from, const uint8_t *places) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)from), order = _mm_loadu_si128((const __m128i *)places);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_shuffle_epi8(bytes, order)));
}

typedef __m256 vec_mask;

VEC_INLINE vec_mask vec_greater(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
VEC_INLINE vec_mask vec_equal(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
VEC_INLINE vec_mask vec_beats(vec a, vec b) {
    return _mm256_or_ps(vec_greater(a, b), _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
VEC_INLINE vec vec_select(vec_mask where, vec a, vec b) { return _mm256_blendv_ps(b, a, where); }

typedef __m128i vec_half;

VEC_INLINE vec_half vec_half_load(const uint16_t *from) { return _mm_loadu_si128((const __m128i *)from); }
VEC_INLINE void vec_half_store(uint16_t *to, vec_half a) { _mm_storeu_si128((__m128i *)to, a); }
VEC_INLINE vec_half vec_half_load_some(const uint16_t *from, int64_t count) {
    uint16_t some[VEC_LANES] = {0};
    for (int64_t i = 0; i < count; i++) some[i] = from[i];
    return vec_half_load(some);
}
VEC_INLINE void vec_half_store_some(uint16_t *to, vec_half a, int64_t count) {
    uint16_t some[VEC_LANES];
    vec_half_store(some, a);
    for (int64_t i = 0; i < count; i++) to[i] = some[i];
}

VEC_INLINE void vec_stream(float *to, vec a) { _mm256_stream_ps(to, a); }
VEC_INLINE void vec_half_stream(uint16_t *to, vec_half a) { _mm_stream_si128((__m128i *)to, a); }
VEC_INLINE void vec_fence(void) { _mm_sfence(); }

/* The bits of floats, with zeros of their sign where the exponent is zero. */
VEC_INLINE __m256i vec_flush(__m256i bits) {
    __m256i exponent = _mm256_and_si256(bits, _mm256_set1_epi32(0x7f800000));
    __m256i small = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());
    return _mm256_andnot_si256(_mm256_and_si256(small, _mm256_set1_epi32(0x7fffffff)), bits);
}
VEC_INLINE vec vec_from_bf16(vec_half a) {
    return _mm256_castsi256_ps(vec_flush(_mm256_slli_epi32(_mm256_cvtepu16_epi32(a), 16)));
}
VEC_INLINE vec vec_quiet(vec a) {
    vec nan = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
    return _mm256_or_ps(a, _mm256_and_ps(nan, _mm256_castsi256_ps(_mm256_set1_epi32(0x00400000))));
}
VEC_INLINE vec_half vec_to_bf16(vec a) {
    __m256i bits = vec_flush(_mm256_castps_si256(a));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    vec chosen = vec_select(_mm256_cmp_ps(a, a, _CMP_UNORD_Q), vec_quiet(a), _mm256_castsi256_ps(rounded));
    bits = _mm256_srli_epi32(_mm256_castps_si256(chosen), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}
VEC_INLINE vec vec_from_f16(vec_half a) { return _mm256_cvtph_ps(a); }
VEC_INLINE vec_half vec_to_f16(vec a) { return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

VEC_INLINE vec_double vec_double_zero(void) { return _mm256_setzero_pd(); }
VEC_INLINE vec_double vec_double_load(const double *from) { return _mm256_loadu_pd(from); }
VEC_INLINE vec_double vec_double_spread(double a) { return _mm256_set1_pd(a); }
VEC_INLINE vec_double vec_double_low(vec a) { return _mm256_cvtps_pd(_mm256_castps256_ps128(a)); }
VEC_INLINE vec_double vec_double_high(vec a) { return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)); }
VEC_INLINE vec_double vec_double_mul(vec_double a, vec_double b) { return _mm256_mul_pd(a, b); }
VEC_INLINE double vec_double_sum(vec_double a) {
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
VEC_INLINE vec_double vec_double_from(const float *from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
VEC_INLINE void vec_double_store(double *to, vec_double a) { _mm256_storeu_pd(to, a); }
VEC_INLINE vec_double vec_double_add(vec_double a, vec_double b) { return _mm256_add_pd(a, b); }
VEC_INLINE vec_double vec_double_sub(vec_double a, vec_double b) { return _mm256_sub_pd(a, b); }
VEC_INLINE vec_double vec_double_mul_add(vec_double a, vec_double b, vec_double c) { return _mm256_fmadd_pd(a, b, c); }

typedef __m256i vec_words;

VEC_INLINE vec_words vec_words_spread(uint64_t a) { return _mm256_set1_epi64x((int64_t)a); }
VEC_INLINE vec_words vec_words_load(const uint64_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
VEC_INLINE vec_words vec_words_add(vec_words a, vec_words b) { return _mm256_add_epi64(a, b); }
VEC_INLINE vec_words vec_words_product(vec_words a, vec_words b) { return _mm256_mul_epu32(a, b); }
VEC_INLINE vec_words vec_words_high(vec_words a) { return _mm256_srli_epi64(a, 32); }
VEC_INLINE vec_words vec_words_xor(vec_words a, vec_words b, vec_words c) {
    return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}
VEC_INLINE void vec_words_store(uint32_t *to, vec_words a, vec_words b, vec_words c, vec_words d) {
    __m256i first = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);
    __m256i second = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), 0xaa);
    _mm256_storeu_si256((__m256i *)to, _mm256_unpacklo_epi64(first, second));
    _mm256_storeu_si256((__m256i *)(to + 8), _mm256_unpackhi_epi64(first, second));
}
VEC_INLINE vec vec_keep(vec a, const uint32_t *words, int32_t limit) {
    __m256i bits = _mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)words), 8);
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_cmpgt_epi32(bits, _mm256_set1_epi32(limit - 1))));
}

#endif
