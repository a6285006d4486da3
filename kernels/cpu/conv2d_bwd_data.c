/*
 * The data gradient of conv2d: the indirect matrix product of tile/igemm.h with the weights turned
 * round, one class of pixels for each remainder by the stride.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

PACKED_KERNEL(conv2d_bwd_data_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, igemm_backward_supports, igemm_cost,
              igemm_create_backward, KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_bwd_data_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, igemm_backward_supports, igemm_cost,
              igemm_create_backward, KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_igemm_avx512, gemm_avx512, igemm_backward_supports, igemm_cost,
              igemm_create_backward, KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_igemm_avx2, gemm_avx2, igemm_backward_supports, igemm_cost, igemm_create_backward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_bwd_data__cpu_igemm_portable, gemm_portable, igemm_backward_supports, igemm_cost,
              igemm_create_backward, KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
