/*
 * Sixteen floats, or eight doubles, in an AVX-512 register. The files vec_*.h define the same names for
 * three instruction sets. The file of a set defines ISA_NAME, OF_ISA (a table by its name and the set) and ISA_FLOPS (a
 * second, of one core, of loops that memory feeds), includes one of them, and then every *_body.h, which so is compiled
 * for that set. A file that wants more of the processor defines VEC_TARGET before, and VEC_BF16 where that includes
 * AVX512_BF16.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_VEC_H
#define BRAID_KERNELS_CPU_ISA_VEC_H

#include <immintrin.h>
#include <stdint.h>

#ifndef VEC_TARGET
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#endif
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

VEC_INLINE vec vec_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
VEC_INLINE vec vec_div(vec a, vec b) { return _mm512_div_ps(a, b); }
VEC_INLINE vec vec_sqrt(vec a) { return _mm512_sqrt_ps(a); }
VEC_INLINE vec vec_abs(vec a) { return _mm512_abs_ps(a); }
VEC_INLINE vec vec_at_least(vec a, vec low) { return _mm512_max_ps(a, low); }  /* NaN gives low */
VEC_INLINE vec vec_at_most(vec a, vec high) { return _mm512_min_ps(a, high); } /* NaN gives high */
/* a with the low bits of k, an integer in the mantissa, added to its exponent. */
VEC_INLINE vec vec_add_exponent(vec a, vec k) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_slli_epi32(_mm512_castps_si512(k), 23)));
}

/* `count` floats, fewer than VEC_LANES: nothing beside them is touched, the other lanes are zero. */
VEC_INLINE vec vec_load_some(const float *from, int64_t count) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from);
}
VEC_INLINE void vec_store_some(float *to, vec a, int64_t count) {
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), a);
}

/* VEC_LANES bytes as floats: lane l takes byte places[l], below 16, of the 16 bytes at `from`. */
VEC_INLINE vec vec_pick_bytes(const uint8_t *from, const uint8_t *places) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)from), order = _mm_loadu_si128((const __m128i *)places);
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_shuffle_epi8(bytes, order)));
}

typedef __mmask16 vec_mask;

VEC_INLINE vec_mask vec_greater(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
VEC_INLINE vec_mask vec_equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
/* a is greater than b, or NaN. */
VEC_INLINE vec_mask vec_beats(vec a, vec b) {
    return (vec_mask)(vec_greater(a, b) | _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q));
}
VEC_INLINE vec vec_select(vec_mask where, vec a, vec b) { return _mm512_mask_blend_ps(where, b, a); }

/* VEC_LANES halves: bf16 or f16. */
typedef __m256i vec_half;

VEC_INLINE vec_half vec_half_load(const uint16_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
VEC_INLINE void vec_half_store(uint16_t *to, vec_half a) { _mm256_storeu_si256((__m256i *)to, a); }
VEC_INLINE vec_half vec_half_load_some(const uint16_t *from, int64_t count) {
    return _mm256_maskz_loadu_epi16((__mmask16)((1u << count) - 1), from);
}
VEC_INLINE void vec_half_store_some(uint16_t *to, vec_half a, int64_t count) {
    _mm256_mask_storeu_epi16(to, (__mmask16)((1u << count) - 1), a);
}

/* Past the caches; `to` is aligned to the bytes that are stored. vec_fence comes behind the last of them. */
VEC_INLINE void vec_stream(float *to, vec a) { _mm512_stream_ps(to, a); }
VEC_INLINE void vec_half_stream(uint16_t *to, vec_half a) { _mm256_stream_si256((__m256i *)to, a); }
VEC_INLINE void vec_fence(void) { _mm_sfence(); }

/* With the rules of core/dtype.h. A signalling NaN of bf16 is left to vec_quiet, to arithmetic or to vec_to_bf16. */
VEC_INLINE vec vec_from_bf16(vec_half a) {
    __m512i bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(a), 16);
    __mmask16 small = _mm256_testn_epi16_mask(a, _mm256_set1_epi16(0x7f80));
    return _mm512_castsi512_ps(_mm512_mask_and_epi32(bits, small, bits, _mm512_set1_epi32(INT32_MIN)));
}
VEC_INLINE vec vec_quiet(vec a) {
    __m512i bits = _mm512_castps_si512(a);
    __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    return _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, nan, bits, _mm512_set1_epi32(0x00400000)));
}
#ifdef VEC_BF16
VEC_INLINE vec_half vec_to_bf16(vec a) { return (vec_half)_mm512_cvtneps_pbh(a); }
#else
VEC_INLINE vec_half vec_to_bf16(vec a) {
    __m512i bits = _mm512_castps_si512(a), odd = _mm512_and_epi32(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
    __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    rounded = _mm512_mask_and_epi32(rounded, small, bits, _mm512_set1_epi32(INT32_MIN));
    rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x00400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}
#endif
VEC_INLINE vec vec_from_f16(vec_half a) { return _mm512_cvtph_ps(a); }
VEC_INLINE vec_half vec_to_f16(vec a) { return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

VEC_INLINE vec_double vec_double_zero(void) { return _mm512_setzero_pd(); }
VEC_INLINE vec_double vec_double_load(const double *from) { return _mm512_loadu_pd(from); }
VEC_INLINE vec_double vec_double_spread(double a) { return _mm512_set1_pd(a); }
/* The first and the second half of the lanes. */
VEC_INLINE vec_double vec_double_low(vec a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
VEC_INLINE vec_double vec_double_high(vec a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
VEC_INLINE vec_double vec_double_mul(vec_double a, vec_double b) { return _mm512_mul_pd(a, b); }
/* The sum of the lanes, by halves. */
VEC_INLINE double vec_double_sum(vec_double a) {
    __m256d half = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
VEC_INLINE vec_double vec_double_from(const float *from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }
VEC_INLINE void vec_double_store(double *to, vec_double a) { _mm512_storeu_pd(to, a); }
VEC_INLINE vec_double vec_double_add(vec_double a, vec_double b) { return _mm512_add_pd(a, b); }
VEC_INLINE vec_double vec_double_sub(vec_double a, vec_double b) { return _mm512_sub_pd(a, b); }
VEC_INLINE vec_double vec_double_mul_add(vec_double a, vec_double b, vec_double c) { return _mm512_fmadd_pd(a, b, c); }

/* VEC_DOUBLES words of 32 bits, each in the lower half of 64; what the upper halves hold is of no account. */
typedef __m512i vec_words;

VEC_INLINE vec_words vec_words_spread(uint64_t a) { return _mm512_set1_epi64((int64_t)a); }
VEC_INLINE vec_words vec_words_load(const uint64_t *from) { return _mm512_loadu_si512(from); }
VEC_INLINE vec_words vec_words_add(vec_words a, vec_words b) { return _mm512_add_epi64(a, b); }     /* of 64 bits */
VEC_INLINE vec_words vec_words_product(vec_words a, vec_words b) { return _mm512_mul_epu32(a, b); } /* all 64 bits */
VEC_INLINE vec_words vec_words_high(vec_words a) { return _mm512_srli_epi64(a, 32); }
VEC_INLINE vec_words vec_words_xor(vec_words a, vec_words b, vec_words c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
/* The four words of every even lane, then those of every odd one. */
VEC_INLINE void vec_words_store(uint32_t *to, vec_words a, vec_words b, vec_words c, vec_words d) {
    __m512i first = _mm512_mask_blend_epi32(0xaaaa, a, _mm512_slli_epi64(b, 32));
    __m512i second = _mm512_mask_blend_epi32(0xaaaa, c, _mm512_slli_epi64(d, 32));
    _mm512_storeu_si512(to, _mm512_unpacklo_epi64(first, second));
    _mm512_storeu_si512(to + 16, _mm512_unpackhi_epi64(first, second));
}
/* a where the upper 24 bits of the word are `limit` or more, else 0. */
VEC_INLINE vec vec_keep(vec a, const uint32_t *words, int32_t limit) {
    __m512i bits = _mm512_srli_epi32(_mm512_loadu_si512(words), 8);
    return _mm512_maskz_mov_ps(_mm512_cmpge_epi32_mask(bits, _mm512_set1_epi32(limit)), a);
}

#endif
