/*
 * All loops for AVX2 with FMA and F16C: eight floats at a time; 6 rows times 16 columns of a product keep 12 of the 16
 * registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#define ISA_NAME "avx2"
#define OF_ISA(table) table##_avx2
#define ISA_FLOPS 14e9
#define TILE_ROWS 6
#define TILE_DOT_ROWS 2
#include "kernels/cpu/isa/vec_avx2.h"

#include "kernels/cpu/isa/gemm_body.h"
#include "kernels/cpu/isa/images_body.h"
#include "kernels/cpu/isa/channels_body.h"
#include "kernels/cpu/isa/few_channels_body.h"
#include "kernels/cpu/isa/rows_body.h"
#include "kernels/cpu/isa/flat_body.h"
#include "kernels/cpu/isa/updates_body.h"
#include "kernels/cpu/isa/winograd_body.h"

const gemm_tile gemm_avx2 = {
    .name = ISA_NAME,
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 60e9,
    .bf16 = &channels_avx2.bf16,
    .f16 = &channels_avx2.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
};

const few_channels_tile few_channels_avx2 = {&gemm_avx2, run_line_rows, fence_lines, run_line_outer, 0};
