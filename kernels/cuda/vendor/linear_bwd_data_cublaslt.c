/*
 * linear data gradient by cuBLASLt: dx = dy w.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/linear_cublaslt.h"

static void describe(const braid_problem *p, int i, cublaslt_call *call) {
    call->left = linear_cublaslt_y(p, i);
    call->right = linear_cublaslt_w(p, i);
    call->out = linear_cublaslt_x(p, i);
}

LINEAR_CUBLASLT_KERNELS(linear_bwd_data, describe)
