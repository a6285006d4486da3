/*
 * The data gradient of linear: the product of tile/igemm.h with the weights turned round.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

TILE_KERNEL(linear_bwd_data_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, supports_all, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
TILE_KERNEL(linear_bwd_data_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, supports_all, igemm_cost,
            igemm_create_backward, igemm_launch, igemm_destroy)
TILE_KERNEL(linear_bwd_data__cpu_igemm_avx512, gemm_avx512, supports_all, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
TILE_KERNEL(linear_bwd_data__cpu_igemm_avx2, gemm_avx2, supports_all, igemm_cost, igemm_create_backward, igemm_launch,
            igemm_destroy)
TILE_KERNEL(linear_bwd_data__cpu_igemm_portable, gemm_portable, supports_all, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
