/*
 * The weight gradient of conv2d in f32 for 3x3 filters at stride 1, with fewer multiplications: tile/winograd_weight.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/winograd_weight.h"

TILE_KERNEL(conv2d_bwd_weight_f32__cpu_winograd_avx512, winograd_avx512, winograd_weight_supports, winograd_weight_cost,
            winograd_weight_create, winograd_weight_launch, winograd_weight_destroy)
TILE_KERNEL(conv2d_bwd_weight_f32__cpu_winograd_avx2, winograd_avx2, winograd_weight_supports, winograd_weight_cost,
            winograd_weight_create, winograd_weight_launch, winograd_weight_destroy)
TILE_KERNEL(conv2d_bwd_weight_f32__cpu_winograd_portable, winograd_portable, winograd_weight_supports,
            winograd_weight_cost, winograd_weight_create, winograd_weight_launch, winograd_weight_destroy)
