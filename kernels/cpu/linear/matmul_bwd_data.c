/*
 * The gradient of the first matrix of matmul by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/matmul.h"

MATMUL_KERNELS(AMX_BF16, matmul_bwd_data, cpu_indirect_gemm, linear_bwd_data, linear_fwd)
MATMUL_TURNED(matmul_bwd_data_bf16__cpu_dot_avx512_bf16, linear_fwd_bf16__cpu_dot_avx512_bf16)
MATMUL_KERNELS_TURNED(AVX512, matmul_bwd_data_f32, cpu_dot, linear_fwd_f32)
MATMUL_KERNELS_STRAIGHT(AVX512, matmul_bwd_data_f32, cpu_unpacked, linear_bwd_data_f32)
MATMUL_KERNEL(matmul_bwd_data__cpu_onednn_packed, linear_bwd_data__cpu_onednn_packed, linear_fwd__cpu_onednn_packed)
MATMUL_KERNEL(matmul_bwd_data__cpu_onednn_plain, linear_bwd_data__cpu_onednn_plain, linear_fwd__cpu_onednn_plain)
MATMUL_KERNEL(matmul_bwd_data__cpu_openblas, linear_bwd_data__cpu_openblas, linear_fwd__cpu_openblas)
