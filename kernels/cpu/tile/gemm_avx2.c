/*
 * The tile of gemm.h for AVX2 with FMA: 6 rows times 16 columns keep 12 of the 16 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#define TILE_ROWS 6
#define TILE_DOT_ROWS 2
#include "kernels/cpu/tile/gemm_body.h"

const gemm_tile gemm_avx2 = {"avx2", TILE_ROWS, TILE_COLUMNS, TILE_DOT_ROWS, 60e9, run_rows, run_outer, run_dots};
