/*
 * The tile of gemm.h for AVX-512: 14 rows times 32 columns keep 28 of the 32 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#define TILE_ROWS 14
#define TILE_DOT_ROWS 4
#include "kernels/cpu/tile/gemm_body.h"
#include "kernels/cpu/tile/lanes.h"
#include "kernels/cpu/tile/lines_body.h"
#include "kernels/cpu/tile/pairs.h"

const gemm_tile gemm_avx512 = {
    .name = "avx512",
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 80e9,
    .bf16 = &lanes_avx512.bf16,
    .f16 = &lanes_avx512.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
    .turn = pairs_turn_square,
};

const lines_tile lines_avx512 = {&gemm_avx512, run_line_rows, fence_lines, run_line_outer, 0};
