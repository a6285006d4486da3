/*
 * matmul weight gradient on CUDA by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/matmul_linear.h"

MATMUL_KERNEL(matmul_bwd_weight__cuda_direct, linear_bwd_weight__cuda_direct, linear_bwd_weight__cuda_direct)
MATMUL_KERNEL(matmul_bwd_weight__cuda_cublaslt_1, linear_bwd_weight__cuda_cublaslt_1,
              linear_bwd_weight__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_weight_f32__cuda_cublaslt_1, linear_bwd_weight_f32__cuda_cublaslt_1,
              linear_bwd_weight_f32__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_weight_tf32__cuda_cublaslt_1, linear_bwd_weight_tf32__cuda_cublaslt_1,
              linear_bwd_weight_tf32__cuda_cublaslt_1)
MATMUL_KERNEL(matmul_bwd_weight__cuda_skinny, linear_bwd_weight__cuda_skinny, linear_bwd_weight__cuda_skinny)
MATMUL_KERNEL(matmul_bwd_weight_f32__cuda_skinny, linear_bwd_weight_f32__cuda_skinny,
              linear_bwd_weight_f32__cuda_skinny)
