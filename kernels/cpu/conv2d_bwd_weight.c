/*
 * The weight gradient of conv2d, and of its bias: a sum of outer products over the output pixels
 * (tile/wgrad.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/wgrad.h"

TILE_KERNEL(conv2d_bwd_weight_bf16__cpu_outer_amx_bf16, gemm_amx_bf16, supports_all, wgrad_cost, wgrad_create,
            wgrad_launch, wgrad_destroy)
TILE_KERNEL(conv2d_bwd_weight_bf16__cpu_outer_avx512_bf16, gemm_avx512_bf16, supports_all, wgrad_cost, wgrad_create,
            wgrad_launch, wgrad_destroy)
TILE_KERNEL(conv2d_bwd_weight__cpu_outer_avx512, gemm_avx512, supports_all, wgrad_cost, wgrad_create, wgrad_launch,
            wgrad_destroy)
TILE_KERNEL(conv2d_bwd_weight__cpu_outer_avx2, gemm_avx2, supports_all, wgrad_cost, wgrad_create, wgrad_launch,
            wgrad_destroy)
TILE_KERNEL(conv2d_bwd_weight__cpu_outer_portable, gemm_portable, supports_all, wgrad_cost, wgrad_create, wgrad_launch,
            wgrad_destroy)
