/*
 * softmax_xent gradient on CUDA, one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/loss/class_loss_launch.h"

const kernel_functions softmax_xent_bwd_data__cuda_direct = {
    .supports = class_loss_refuses, .cost = launch_cost, .launch = class_loss_launch_bwd_data};
