/*
 * conv2d forward for images with few channels, from copied rows: tile/lines.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/lines.h"

TILE_KERNEL(conv2d_fwd_bf16__cpu_lines_amx_bf16, lines_amx_bf16, lines_amx_supports, lines_cost, lines_create,
            lines_launch_forward, lines_destroy)
TILE_KERNEL(conv2d_fwd_bf16__cpu_lines_avx512_bf16, lines_avx512_bf16, lines_supports, lines_cost, lines_create,
            lines_launch_forward, lines_destroy)
TILE_KERNEL(conv2d_fwd__cpu_lines_avx512, lines_avx512, lines_supports, lines_cost, lines_create, lines_launch_forward,
            lines_destroy)
TILE_KERNEL(conv2d_fwd__cpu_lines_avx2, lines_avx2, lines_supports, lines_cost, lines_create, lines_launch_forward,
            lines_destroy)
TILE_KERNEL(conv2d_fwd__cpu_lines_portable, lines_portable, lines_supports, lines_cost, lines_create,
            lines_launch_forward, lines_destroy)
