/*
 * sgd on CUDA: all parameters in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/update/update_launch.h"

const kernel_functions sgd__cuda_direct = {.supports = update_refuses, .cost = launch_cost, .launch = update_launch};
