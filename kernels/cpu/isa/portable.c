/*
 * All loops for any processor: four floats at a time, 4 rows times 8 columns of a product in 8 registers.
 *
 * SPDX-License-Identifier: MIT
 */
#define ISA_NAME "portable"
#define OF_ISA(table) table##_portable
#define ISA_FLOPS 8e9
#define TILE_ROWS 4
#define TILE_DOT_ROWS 2
#include "kernels/cpu/isa/vec_portable.h"

#include "kernels/cpu/isa/gemm_body.h"
#include "kernels/cpu/isa/images_body.h"
#include "kernels/cpu/isa/channels_body.h"
#include "kernels/cpu/isa/few_channels_body.h"
#include "kernels/cpu/isa/rows_body.h"
#include "kernels/cpu/isa/flat_body.h"
#include "kernels/cpu/isa/updates_body.h"
#include "kernels/cpu/isa/winograd_body.h"

const gemm_tile gemm_portable = {
    .name = ISA_NAME,
    .rows = TILE_ROWS,
    .columns = TILE_COLUMNS,
    .dot_rows = TILE_DOT_ROWS,
    .flops = 15e9,
    .bf16 = &channels_portable.bf16,
    .f16 = &channels_portable.f16,
    .run_rows = run_rows,
    .run_outer = run_outer,
    .run_dots = run_dots,
    .lay = lay,
};

const few_channels_tile few_channels_portable = {&gemm_portable, run_line_rows, fence_lines, run_line_outer, 0};
