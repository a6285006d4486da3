/*
 * The loops that gain by AVX512_BF16, for planes and rows of bf16: it converts, and one instruction multiplies and adds
 * two numbers in each lane. A product is 14 rows times 32 columns; its sums are floats, rounded to nearest even,
 * denormals taken for zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#define ISA_NAME "avx512_bf16"
#define OF_ISA(table) table##_avx512_bf16
#define ISA_FLOPS 17e9
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c")))
#define VEC_BF16
#include "kernels/cpu/isa/vec_avx512.h"

#include "kernels/cpu/isa/gemm.h"
#include "kernels/cpu/isa/pairs.h"

#define TILE_ROWS 14
#define TILE_DOT_ROWS 4

/* Two numbers, at the alignment of one. */
#define UNIT_NUMBERS 2
typedef uint32_t unit __attribute__((may_alias, aligned(2)));
typedef __m512i units;

VEC_INLINE units units_load(const unit *from) { return _mm512_loadu_si512(from); }
VEC_INLINE units units_load_some(const unit *from, int64_t numbers) {
    return _mm512_maskz_loadu_epi16((__mmask32)((UINT64_C(1) << numbers) - 1), from);
}
VEC_INLINE units units_spread(unit a) { return _mm512_set1_epi32((int)a); }
VEC_INLINE vec units_mul_add(units a, units b, vec c) { return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b); }
/* An odd last number, and zero. */
VEC_INLINE unit unit_last(const unit *from) {
    uint16_t last;
    __builtin_memcpy(&last, from, sizeof last);
    return last;
}
VEC_INLINE const unit *outer_row(const gemm_outer *g, int64_t t) {
    return g->packed_rows + t * g->row_count + g->first;
}
VEC_INLINE const unit *outer_column(const gemm_outer *g, int64_t t) {
    return g->packed_columns + t * (int64_t)(2 * VEC_LANES);
}

#include "kernels/cpu/isa/gemm_body.h"
#include "kernels/cpu/isa/channels_body.h"
#include "kernels/cpu/isa/few_channels_body.h"
#include "kernels/cpu/isa/rows_body.h"

/* [units of the depth][rows] */
static void pack_rows(uint32_t *to, const uint16_t *const *from, int64_t depth, int64_t rows) {
    for (int64_t t = 0; t + 1 < depth; t += 2, to += rows) pairs_join(to, from[t], from[t + 1], rows);
    if (depth % 2) pairs_join(to, from[depth - 1], NULL, rows);
}

const gemm_tile gemm_avx512_bf16 = {
    .name = ISA_NAME,
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 150e9,
    .bf16 = &channels_avx512_bf16.bf16,
    .f16 = &channels_avx512_bf16.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .pack_rows = pack_rows,
    .pack_pair = pairs_join,
    .turn = pairs_turn_square,
};

const few_channels_tile few_channels_avx512_bf16 = {&gemm_avx512_bf16, run_line_rows, fence_lines, NULL, 0};
