/*
 * The launch of the linear layers on small and skinny matrices: linear and linear_act, every pass.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LINEAR_LINEAR_SKINNY_LAUNCH_H
#define BRAID_KERNELS_CUDA_LINEAR_LINEAR_SKINNY_LAUNCH_H

#include "kernels/kernel.h"

/* The functions of each such kernel. */
const char *linear_skinny_refuses(const braid_problem *p, const device *d);
double linear_skinny_cost(const braid_problem *p, const machine *on);
braid_status linear_skinny_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes);
braid_status linear_skinny_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void linear_skinny_destroy(device *d, void *state);

#define LINEAR_SKINNY                                                                                  \
    {                                                                                                  \
        .supports = linear_skinny_refuses, .cost = linear_skinny_cost, .create = linear_skinny_create, \
        .launch = linear_skinny_launch, .destroy = linear_skinny_destroy                               \
    }

#endif
