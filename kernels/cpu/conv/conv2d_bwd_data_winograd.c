/*
 * The data gradient of conv2d in f32 for 3x3 filters at stride 1, with fewer multiplications: conv/winograd.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/winograd.h"

PACKED_KERNELS(AVX512, conv2d_bwd_data_f32, cpu_winograd, winograd, winograd_supports_backward, winograd_cost,
               winograd_create_backward, KERNEL_SLOT(CONV2D_W), winograd_pack, winograd_run, winograd_destroy)
