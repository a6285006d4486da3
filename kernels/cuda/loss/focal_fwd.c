/*
 * focal forward on CUDA, two launches: the loss of every sample, and the mean.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/loss/class_loss_launch.h"

const kernel_functions focal_fwd__cuda_direct = {.supports = class_loss_refuses,
                                                 .cost = launch_cost,
                                                 .create = class_loss_create,
                                                 .launch = class_loss_launch_fwd,
                                                 .destroy = launch_destroy};
