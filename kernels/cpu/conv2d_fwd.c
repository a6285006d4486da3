/*
 * conv2d forward: an indirect matrix product (tile/igemm.h), all streams in one launch. Every
 * filter, stride, dilation, group and padding mode takes the same path.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

PACKED_KERNEL(conv2d_fwd_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, supports_all, igemm_cost, igemm_create_forward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_fwd_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, supports_all, igemm_cost, igemm_create_forward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_igemm_avx512, gemm_avx512, supports_all, igemm_cost, igemm_create_forward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_igemm_avx2, gemm_avx2, supports_all, igemm_cost, igemm_create_forward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
PACKED_KERNEL(conv2d_fwd__cpu_igemm_portable, gemm_portable, supports_all, igemm_cost, igemm_create_forward,
              KERNEL_SLOT(CONV2D_W), igemm_pack, igemm_run, igemm_destroy)
