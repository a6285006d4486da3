/*
 * Pairs of bf16 numbers for the tiles that multiply them (gemm.h), by AVX-512: two rows become one row of
 * units.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_PAIRS_H
#define BRAID_KERNELS_CPU_TILE_PAIRS_H

#include <immintrin.h>
#include <stdint.h>

#define PAIRS_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/* to[j] = a[j] in the low half and b[j], or 0 where b is NULL, in the high one, for j < count. */
PAIRS_TARGET static inline void pairs_join(uint32_t *to, const uint16_t *a, const uint16_t *b, int64_t count) {
    int64_t j = 0;
    for (; j < count; j += 16) {
        const int64_t left = count - j;
        const __mmask16 some = left < 16 ? (__mmask16)((1u << left) - 1) : (__mmask16)0xffff;
        const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, a + j));
        const __m512i high = b ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, b + j)) : _mm512_setzero_si512();
        _mm512_mask_storeu_epi32(to + j, some, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
}

#endif
