/*
 * The tile of gemm.h for any processor: 4 rows times 8 columns keep 8 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#define TILE_ROWS 4
#define TILE_DOT_ROWS 2
#include "kernels/cpu/tile/gemm_body.h"
#include "kernels/cpu/tile/lanes.h"
#include "kernels/cpu/tile/lines_body.h"

const gemm_tile gemm_portable = {
    .name = "portable",
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 15e9,
    .bf16 = &lanes_portable.bf16,
    .f16 = &lanes_portable.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
};

const lines_tile lines_portable = {&gemm_portable, run_line_rows, fence_lines, run_line_outer, 0};
