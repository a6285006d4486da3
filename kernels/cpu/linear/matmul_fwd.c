/*
 * matmul forward by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/matmul.h"

MATMUL_KERNELS(AMX_BF16, matmul_fwd, cpu_indirect_gemm, linear_fwd, linear_bwd_data)
MATMUL_STRAIGHT(matmul_fwd_bf16__cpu_dot_avx512_bf16, linear_fwd_bf16__cpu_dot_avx512_bf16)
MATMUL_KERNELS_STRAIGHT(AVX512, matmul_fwd_f32, cpu_dot, linear_fwd_f32)
MATMUL_KERNELS_TURNED(AVX512, matmul_fwd_f32, cpu_unpacked, linear_bwd_data_f32)
MATMUL_KERNEL(matmul_fwd__cpu_onednn_packed, linear_fwd__cpu_onednn_packed, linear_bwd_data__cpu_onednn_packed)
MATMUL_KERNEL(matmul_fwd__cpu_onednn_plain, linear_fwd__cpu_onednn_plain, linear_bwd_data__cpu_onednn_plain)
MATMUL_KERNEL(matmul_fwd__cpu_openblas, linear_fwd__cpu_openblas, linear_bwd_data__cpu_openblas)
