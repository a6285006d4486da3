/*
 * The launch of the optimisers, which share their kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_UPDATE_UPDATE_LAUNCH_H
#define BRAID_KERNELS_CUDA_UPDATE_UPDATE_LAUNCH_H

#include "kernels/cuda/launch/launch.h"

const char *update_refuses(const braid_problem *p, const device *d);

/* The function is named as the op. */
braid_status update_launch(const braid_problem *p, device *d, void *state, const buffers *b);

/* 1 where none of the addresses keeps accesses of 16 bytes from being made. */
int update_is_aligned(const void *const *addresses, int count);

#endif
