/*
 * The launches of softmax_xent and focal, which share their kernels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LOSS_CLASS_LOSS_LAUNCH_H
#define BRAID_KERNELS_CUDA_LOSS_CLASS_LOSS_LAUNCH_H

#include "kernels/cuda/launch/launch.h"

const char *class_loss_refuses(const braid_problem *p, const device *d);
braid_status class_loss_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes);
braid_status class_loss_launch_fwd(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status class_loss_launch_bwd_data(const braid_problem *p, device *d, void *state, const buffers *b);

#endif
