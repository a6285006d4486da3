/*
 * The data gradient of a linear layer as one OpenBLAS product for each stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/openblas_layer.h"

const kernel_functions linear_bwd_data__cpu_openblas = {
    .supports = openblas_supports, .cost = openblas_cost, .launch = openblas_launch_bwd_data};
