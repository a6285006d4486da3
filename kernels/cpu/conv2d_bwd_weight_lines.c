/*
 * The weight gradient of conv2d for images with few channels, from copied rows: tile/lines.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/lines.h"

TILE_KERNEL(conv2d_bwd_weight__cpu_lines_avx512, lines_avx512, lines_supports, lines_cost, lines_create,
            lines_launch_weight, lines_destroy)
TILE_KERNEL(conv2d_bwd_weight__cpu_lines_avx2, lines_avx2, lines_supports, lines_cost, lines_create,
            lines_launch_weight, lines_destroy)
TILE_KERNEL(conv2d_bwd_weight__cpu_lines_portable, lines_portable, lines_supports, lines_cost, lines_create,
            lines_launch_weight, lines_destroy)
