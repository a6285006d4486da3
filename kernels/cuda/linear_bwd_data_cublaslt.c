/*
 * linear data gradient by cuBLASLt: dx = dy w.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/linear_cublaslt.h"

static void describe(const braid_problem *p, int i, cublaslt_call *call) {
    call->left = linear_cublaslt_y(p, i);
    call->right = linear_cublaslt_w(p, i);
    call->out = linear_cublaslt_x(p, i);
}

LINEAR_CUBLASLT_KERNEL(linear_bwd_data__cuda_cublaslt_1, describe, 0, 0)
LINEAR_CUBLASLT_KERNEL(linear_bwd_data__cuda_cublaslt_2, describe, 1, 0)
LINEAR_CUBLASLT_KERNEL(linear_bwd_data_f32__cuda_cublaslt_1, describe, 0, 0)
LINEAR_CUBLASLT_KERNEL(linear_bwd_data_f32__cuda_cublaslt_2, describe, 1, 0)
LINEAR_CUBLASLT_KERNEL(linear_bwd_data_tf32__cuda_cublaslt_1, describe, 0, 1)
LINEAR_CUBLASLT_KERNEL(linear_bwd_data_tf32__cuda_cublaslt_2, describe, 1, 1)
