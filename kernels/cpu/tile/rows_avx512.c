/*
 * The loops of rows.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/rows_body.h"

const row_loops rows_avx512 = {
    .name = "avx512",
    .flops = 16e9,
    .layernorm = layernorm,
    .layernorm_gradient = layernorm_gradient,
    .layernorm_sums = layernorm_sums,
    .rownorm = rownorm,
    .rownorm_gradient = rownorm_gradient,
    .scale = scale,
    .dot = dot,
};
