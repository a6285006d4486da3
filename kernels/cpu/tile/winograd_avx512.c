/*
 * The transforms of winograd.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/winograd_body.h"

const winograd_tile winograd_avx512 = {&gemm_avx512,     transform_input,    transform_weights,
                                       transform_output, transform_gradient, transform_filter};
