/*
 * The weight and bias gradients of a linear layer as one OpenBLAS product for each stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/openblas_layer.h"

const kernel_functions linear_bwd_weight__cpu_openblas = {openblas_supports, openblas_cost, NULL,
                                                          openblas_launch_bwd_weight, NULL};
