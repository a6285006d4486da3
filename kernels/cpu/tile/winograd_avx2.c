/*
 * The transforms of winograd.h for AVX2 with FMA.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#include "kernels/cpu/tile/winograd_body.h"

const winograd_tile winograd_avx2 = {&gemm_avx2,       transform_input,    transform_weights,
                                     transform_output, transform_gradient, transform_filter};
