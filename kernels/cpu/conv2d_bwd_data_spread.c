/*
 * The data gradient of conv2d into images with few channels: products as wide as the filter, spread over the image
 * (tile/spread.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/spread.h"

PACKED_KERNEL(conv2d_bwd_data_bf16__cpu_spread_amx_bf16, gemm_amx_bf16, spread_supports, spread_cost, spread_create,
              KERNEL_SLOT(CONV2D_W), spread_pack, spread_run, spread_destroy)
PACKED_KERNEL(conv2d_bwd_data_bf16__cpu_spread_avx512_bf16, gemm_avx512_bf16, spread_supports, spread_cost,
              spread_create, KERNEL_SLOT(CONV2D_W), spread_pack, spread_run, spread_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_spread_avx512, gemm_avx512, spread_supports, spread_cost, spread_create,
              KERNEL_SLOT(CONV2D_W), spread_pack, spread_run, spread_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_spread_avx2, gemm_avx2, spread_supports, spread_cost, spread_create,
              KERNEL_SLOT(CONV2D_W), spread_pack, spread_run, spread_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_spread_portable, gemm_portable, spread_supports, spread_cost, spread_create,
              KERNEL_SLOT(CONV2D_W), spread_pack, spread_run, spread_destroy)
