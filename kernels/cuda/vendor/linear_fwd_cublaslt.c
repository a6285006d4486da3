/*
 * linear forward by cuBLASLt: y = x w^T, with the bias in the epilogue.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/linear_cublaslt.h"

static void describe(const braid_problem *p, int i, cublaslt_call *call) {
    call->left = linear_cublaslt_x(p, i);
    call->right = linear_cublaslt_w(p, i);
    call->right.transposed = 1;
    call->out = linear_cublaslt_y(p, i);
    call->bias_slot = LINEAR_BIAS;
    if (p->bias) call->epilogue = LT_EPILOGUE_BIAS;
}

LINEAR_CUBLASLT_KERNELS(linear_fwd, describe)
