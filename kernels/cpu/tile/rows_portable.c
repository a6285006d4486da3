/*
 * The loops of rows.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/rows_body.h"

const row_loops rows_portable = {
    .name = "portable",
    .flops = 8e9,
    .layernorm = layernorm,
    .layernorm_gradient = layernorm_gradient,
    .layernorm_sums = layernorm_sums,
    .rownorm = rownorm,
    .rownorm_gradient = rownorm_gradient,
    .scale = scale,
    .dot = dot,
};
