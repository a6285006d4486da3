/*
 * matmul forward by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/matmul_linear.h"

extern const kernel_functions linear_fwd_bf16__cpu_igemm_amx_bf16, linear_bwd_data_bf16__cpu_igemm_amx_bf16,
    linear_fwd_bf16__cpu_igemm_avx512_bf16, linear_bwd_data_bf16__cpu_igemm_avx512_bf16, linear_fwd__cpu_igemm_avx512,
    linear_bwd_data__cpu_igemm_avx512, linear_fwd__cpu_igemm_avx2, linear_bwd_data__cpu_igemm_avx2,
    linear_fwd__cpu_igemm_portable, linear_bwd_data__cpu_igemm_portable, linear_fwd_bf16__cpu_dot_avx512_bf16,
    linear_fwd_f32__cpu_dot_avx512, linear_fwd_f32__cpu_dot_avx2, linear_fwd_f32__cpu_dot_portable,
    linear_fwd__cpu_onednn_packed, linear_bwd_data__cpu_onednn_packed, linear_fwd__cpu_onednn_plain,
    linear_bwd_data__cpu_onednn_plain, linear_fwd__cpu_openblas, linear_bwd_data__cpu_openblas,
    linear_bwd_data_f32__cpu_plain_avx512, linear_bwd_data_f32__cpu_plain_avx2, linear_bwd_data_f32__cpu_plain_portable;

MATMUL_KERNEL(matmul_fwd_bf16__cpu_igemm_amx_bf16, &linear_fwd_bf16__cpu_igemm_amx_bf16,
              &linear_bwd_data_bf16__cpu_igemm_amx_bf16)
MATMUL_KERNEL(matmul_fwd_bf16__cpu_igemm_avx512_bf16, &linear_fwd_bf16__cpu_igemm_avx512_bf16,
              &linear_bwd_data_bf16__cpu_igemm_avx512_bf16)
MATMUL_KERNEL(matmul_fwd__cpu_igemm_avx512, &linear_fwd__cpu_igemm_avx512, &linear_bwd_data__cpu_igemm_avx512)
MATMUL_KERNEL(matmul_fwd__cpu_igemm_avx2, &linear_fwd__cpu_igemm_avx2, &linear_bwd_data__cpu_igemm_avx2)
MATMUL_KERNEL(matmul_fwd__cpu_igemm_portable, &linear_fwd__cpu_igemm_portable, &linear_bwd_data__cpu_igemm_portable)
MATMUL_KERNEL(matmul_fwd_bf16__cpu_dot_avx512_bf16, &linear_fwd_bf16__cpu_dot_avx512_bf16, NULL)
MATMUL_KERNEL(matmul_fwd_f32__cpu_dot_avx512, &linear_fwd_f32__cpu_dot_avx512, NULL)
MATMUL_KERNEL(matmul_fwd_f32__cpu_dot_avx2, &linear_fwd_f32__cpu_dot_avx2, NULL)
MATMUL_KERNEL(matmul_fwd_f32__cpu_dot_portable, &linear_fwd_f32__cpu_dot_portable, NULL)
MATMUL_KERNEL(matmul_fwd_f32__cpu_plain_avx512, NULL, &linear_bwd_data_f32__cpu_plain_avx512)
MATMUL_KERNEL(matmul_fwd_f32__cpu_plain_avx2, NULL, &linear_bwd_data_f32__cpu_plain_avx2)
MATMUL_KERNEL(matmul_fwd_f32__cpu_plain_portable, NULL, &linear_bwd_data_f32__cpu_plain_portable)
MATMUL_KERNEL(matmul_fwd__cpu_onednn_packed, &linear_fwd__cpu_onednn_packed, &linear_bwd_data__cpu_onednn_packed)
MATMUL_KERNEL(matmul_fwd__cpu_onednn_plain, &linear_fwd__cpu_onednn_plain, &linear_bwd_data__cpu_onednn_plain)
MATMUL_KERNEL(matmul_fwd__cpu_openblas, &linear_fwd__cpu_openblas, &linear_bwd_data__cpu_openblas)
