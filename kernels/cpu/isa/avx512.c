/*
 * All loops for AVX-512 (F, BW, DQ, VL): sixteen floats at a time; 14 rows times 32 columns of a product keep 28 of the
 * 32 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#define ISA_NAME "avx512"
#define OF_ISA(table) table##_avx512
#define ISA_FLOPS 16e9
#define TILE_ROWS 14
#define TILE_DOT_ROWS 4
#include "kernels/cpu/isa/vec_avx512.h"

#include "kernels/cpu/isa/gemm_body.h"
#include "kernels/cpu/isa/images_body.h"
#include "kernels/cpu/isa/channels_body.h"
#include "kernels/cpu/isa/few_channels_body.h"
#include "kernels/cpu/isa/rows_body.h"
#include "kernels/cpu/isa/flat_body.h"
#include "kernels/cpu/isa/updates_body.h"
#include "kernels/cpu/isa/winograd_body.h"
#include "kernels/cpu/isa/pairs.h"

const gemm_tile gemm_avx512 = {
    .name = ISA_NAME,
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 80e9,
    .bf16 = &channels_avx512.bf16,
    .f16 = &channels_avx512.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
    .turn = pairs_turn_square,
};

const few_channels_tile few_channels_avx512 = {&gemm_avx512, run_line_rows, fence_lines, run_line_outer, 0};
