/*
 * The data gradient of a linear layer as one OpenBLAS product for each stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/openblas_layer.h"

const kernel_functions linear_bwd_data__cpu_openblas = {openblas_supports, openblas_cost, NULL,
                                                        openblas_launch_bwd_data, NULL};
