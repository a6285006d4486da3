/*
 * The tile of gemm.h for AVX-512: 14 rows times 32 columns keep 28 of the 32 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#define TILE_ROWS 14
#define TILE_DOT_ROWS 4
#include "kernels/cpu/tile/gemm_body.h"

const gemm_tile gemm_avx512 = {"avx512", TILE_ROWS, TILE_COLUMNS, TILE_DOT_ROWS, 80e9, run_rows, run_outer, run_dots};
