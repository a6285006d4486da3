/*
 * The weight gradient of conv2d in f32 for 3x3 filters at stride 1, with fewer multiplications: conv/winograd_weight.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/winograd_weight.h"

TILE_KERNELS(AVX512, conv2d_bwd_weight_f32, cpu_winograd, winograd, winograd_weight_supports, winograd_weight_cost,
             winograd_weight_create, winograd_weight_launch, winograd_weight_destroy)
