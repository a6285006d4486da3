/*
 * The loops of rows.h for AVX-512 with its conversion to bf16, for rows of bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c")))
#define VEC_BF16
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/rows_body.h"

const row_loops rows_avx512_bf16 = {
    .name = "avx512_bf16",
    .flops = 17e9,
    .layernorm = layernorm,
    .layernorm_gradient = layernorm_gradient,
    .layernorm_sums = layernorm_sums,
    .rownorm = rownorm,
    .rownorm_gradient = rownorm_gradient,
    .scale = scale,
    .dot = dot,
};
