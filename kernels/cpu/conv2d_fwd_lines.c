/*
 * conv2d forward for images with few channels, from copied rows: tile/lines.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/lines.h"

#define WEIGHTS (KERNEL_SLOT(CONV2D_W) | KERNEL_SLOT(CONV2D_BIAS))

PACKED_KERNEL(conv2d_fwd_bf16__cpu_lines_amx_bf16, lines_amx_bf16, lines_amx_supports, lines_cost, lines_create,
              WEIGHTS, lines_pack, lines_run_forward, lines_destroy)
PACKED_KERNEL(conv2d_fwd_bf16__cpu_lines_avx512_bf16, lines_avx512_bf16, lines_supports, lines_cost, lines_create,
              WEIGHTS, lines_pack, lines_run_forward, lines_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_lines_avx512, lines_avx512, lines_supports, lines_cost, lines_create, WEIGHTS, lines_pack,
              lines_run_forward, lines_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_lines_avx2, lines_avx2, lines_supports, lines_cost, lines_create, WEIGHTS, lines_pack,
              lines_run_forward, lines_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_lines_portable, lines_portable, lines_supports, lines_cost, lines_create, WEIGHTS,
              lines_pack, lines_run_forward, lines_destroy)
