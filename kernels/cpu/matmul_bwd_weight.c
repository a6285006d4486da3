/*
 * The gradient of the second matrix of matmul by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/matmul_linear.h"

extern const kernel_functions linear_bwd_weight_bf16__cpu_outer_amx_bf16, linear_bwd_weight_bf16__cpu_outer_avx512_bf16,
    linear_bwd_weight__cpu_outer_avx512, linear_bwd_weight__cpu_outer_avx2, linear_bwd_weight__cpu_outer_portable,
    linear_bwd_weight__cpu_onednn_packed, linear_bwd_weight__cpu_onednn_plain, linear_bwd_weight__cpu_openblas;

MATMUL_KERNEL(matmul_bwd_weight_bf16__cpu_outer_amx_bf16, &linear_bwd_weight_bf16__cpu_outer_amx_bf16,
              &linear_bwd_weight_bf16__cpu_outer_amx_bf16)
MATMUL_KERNEL(matmul_bwd_weight_bf16__cpu_outer_avx512_bf16, &linear_bwd_weight_bf16__cpu_outer_avx512_bf16,
              &linear_bwd_weight_bf16__cpu_outer_avx512_bf16)
MATMUL_KERNEL(matmul_bwd_weight__cpu_outer_avx512, &linear_bwd_weight__cpu_outer_avx512,
              &linear_bwd_weight__cpu_outer_avx512)
MATMUL_KERNEL(matmul_bwd_weight__cpu_outer_avx2, &linear_bwd_weight__cpu_outer_avx2, &linear_bwd_weight__cpu_outer_avx2)
MATMUL_KERNEL(matmul_bwd_weight__cpu_outer_portable, &linear_bwd_weight__cpu_outer_portable,
              &linear_bwd_weight__cpu_outer_portable)
MATMUL_KERNEL(matmul_bwd_weight__cpu_onednn_packed, &linear_bwd_weight__cpu_onednn_packed,
              &linear_bwd_weight__cpu_onednn_packed)
MATMUL_KERNEL(matmul_bwd_weight__cpu_onednn_plain, &linear_bwd_weight__cpu_onednn_plain,
              &linear_bwd_weight__cpu_onednn_plain)
MATMUL_KERNEL(matmul_bwd_weight__cpu_openblas, &linear_bwd_weight__cpu_openblas, &linear_bwd_weight__cpu_openblas)
