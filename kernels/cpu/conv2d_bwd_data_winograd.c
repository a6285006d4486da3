/*
 * The data gradient of conv2d in f32 for 3x3 filters at stride 1, with fewer multiplications: tile/winograd.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/winograd.h"

PACKED_KERNEL(conv2d_bwd_data_f32__cpu_winograd_avx512, winograd_avx512, winograd_supports_backward, winograd_cost,
              winograd_create_backward, KERNEL_SLOT(CONV2D_W), winograd_pack, winograd_run, winograd_destroy)
PACKED_KERNEL(conv2d_bwd_data_f32__cpu_winograd_avx2, winograd_avx2, winograd_supports_backward, winograd_cost,
              winograd_create_backward, KERNEL_SLOT(CONV2D_W), winograd_pack, winograd_run, winograd_destroy)
PACKED_KERNEL(conv2d_bwd_data_f32__cpu_winograd_portable, winograd_portable, winograd_supports_backward, winograd_cost,
              winograd_create_backward, KERNEL_SLOT(CONV2D_W), winograd_pack, winograd_run, winograd_destroy)
