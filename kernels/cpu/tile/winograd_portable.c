/*
 * The transforms of winograd.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/winograd_body.h"

const winograd_tile winograd_portable = {&gemm_portable,   transform_input,    transform_weights,
                                         transform_output, transform_gradient, transform_filter};
