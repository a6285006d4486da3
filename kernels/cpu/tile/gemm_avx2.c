/*
 * The tile of gemm.h for AVX2 with FMA: 6 rows times 16 columns keep 12 of the 16 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#define TILE_ROWS 6
#define TILE_DOT_ROWS 2
#include "kernels/cpu/tile/gemm_body.h"
#include "kernels/cpu/tile/lanes.h"
#include "kernels/cpu/tile/lines_body.h"

const gemm_tile gemm_avx2 = {
    .name = "avx2",
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 60e9,
    .bf16 = &lanes_avx2.bf16,
    .f16 = &lanes_avx2.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
};

const lines_tile lines_avx2 = {&gemm_avx2, run_line_rows, fence_lines, run_line_outer, 0};
