/*
 * The gradient of the second matrix of matmul by the kernels of linear (matmul_linear.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/matmul.h"

MATMUL_KERNELS(AMX_BF16, matmul_bwd_weight, cpu_outer_product, linear_bwd_weight, linear_bwd_weight)
MATMUL_KERNEL(matmul_bwd_weight__cpu_onednn_packed, linear_bwd_weight__cpu_onednn_packed,
              linear_bwd_weight__cpu_onednn_packed)
MATMUL_KERNEL(matmul_bwd_weight__cpu_onednn_plain, linear_bwd_weight__cpu_onednn_plain,
              linear_bwd_weight__cpu_onednn_plain)
MATMUL_KERNEL(matmul_bwd_weight__cpu_openblas, linear_bwd_weight__cpu_openblas, linear_bwd_weight__cpu_openblas)
