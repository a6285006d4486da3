/*
 * The tile of gemm.h for any processor: 4 rows times 8 columns keep 8 registers adding.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#define TILE_ROWS 4
#define TILE_DOT_ROWS 2
#include "kernels/cpu/tile/gemm_body.h"

const gemm_tile gemm_portable = {"portable", TILE_ROWS, TILE_COLUMNS, TILE_DOT_ROWS,
                                 15e9,       run_rows,  run_outer,    run_dots};
