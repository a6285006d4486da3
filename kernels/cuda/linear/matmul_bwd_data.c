/*
 * matmul data gradient on CUDA by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/matmul_linear.h"

MATMUL_KERNEL(matmul_bwd_data__cuda_direct, linear_bwd_data__cuda_direct, linear_fwd__cuda_direct)
MATMUL_KERNEL(matmul_bwd_data__cuda_cublaslt_1, linear_bwd_data__cuda_cublaslt_1, linear_fwd__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_data_f32__cuda_cublaslt_1, linear_bwd_data_f32__cuda_cublaslt_1,
              linear_fwd_f32__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_data_tf32__cuda_cublaslt_1, linear_bwd_data_tf32__cuda_cublaslt_1,
              linear_fwd_tf32__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_data__cuda_skinny, linear_bwd_data__cuda_skinny, linear_fwd__cuda_skinny)
MATMUL_KERNEL(matmul_bwd_data_f32__cuda_skinny, linear_bwd_data_f32__cuda_skinny, linear_fwd_f32__cuda_skinny)
