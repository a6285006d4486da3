/*
 * Pairs of bf16 numbers for the tiles that multiply them (gemm.h), by AVX-512: two rows become one row of
 * units, and a square of units is turned.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_PAIRS_H
#define BRAID_KERNELS_CPU_ISA_PAIRS_H

#include <immintrin.h>
#include <stdint.h>

#define PAIRS_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define PAIRS_LINE 16   /* units of a register */
#define PAIRS_AHEAD 256 /* bytes of a row that a packing fetches before it needs them */

/* The first `count` places of a register, or all of them. */
static inline __mmask16 pairs_first(int64_t count) {
    return (__mmask16)(count < PAIRS_LINE ? (1u << count) - 1 : 0xffffu);
}

/* Up to PAIRS_LINE units: a[j] in the low half and b[j] in the high one, 0 where a or b is NULL and behind count. */
PAIRS_TARGET static inline __m512i pairs_of(const uint16_t *a, const uint16_t *b, int64_t count) {
    const __mmask16 some = pairs_first(count);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i low = a ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, a)) : zero;
    const __m512i high = b ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, b)) : zero;
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* to[j] = a[j] and b[j], or a[j] and 0 where b is NULL, for j < count. */
PAIRS_TARGET static inline void pairs_join(uint32_t *to, const uint16_t *a, const uint16_t *b, int64_t count) {
    for (int64_t j = 0; j < count; j += PAIRS_LINE) {
        const int64_t left = count - j;
        const __mmask16 some = pairs_first(left);
        _mm512_mask_storeu_epi32(to + j, some, pairs_of(a + j, b ? b + j : b, left));
    }
}

/* line[i] becomes what was in place i of every line. */
PAIRS_TARGET static inline void pairs_turn(__m512i line[PAIRS_LINE]) {
    __m512i t[PAIRS_LINE];
#pragma GCC unroll 16
    for (int i = 0; i < PAIRS_LINE; i += 2) {
        t[i] = _mm512_unpacklo_epi32(line[i], line[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(line[i], line[i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < PAIRS_LINE; i += 4) {
        line[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        line[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        line[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        line[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(line[i], line[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(line[i], line[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(line[i + 8], line[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(line[i + 8], line[i + 12], 0xdd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 4; i++) {
        line[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        line[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        line[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        line[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

/* `turn` of gemm_tile. */
PAIRS_TARGET static inline void pairs_turn_square(void *to, int64_t to_pitch, const void *from, int64_t pitch) {
    __m512i line[PAIRS_LINE];
#pragma GCC unroll 16
    for (int i = 0; i < PAIRS_LINE; i++) {
        const char *source = (const char *)from + i * pitch;
        line[i] = _mm512_loadu_si512(source);
        __builtin_prefetch(source + PAIRS_AHEAD);
    }
    pairs_turn(line);
#pragma GCC unroll 16
    for (int i = 0; i < PAIRS_LINE; i++) _mm512_storeu_si512((char *)to + i * to_pitch, line[i]);
}

#endif
