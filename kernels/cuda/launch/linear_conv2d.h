/*
 * A linear layer is a convolution of 1 x 1 images with 1 x 1 filters: same memory, same slots, same
 * sums. So the linear kernels are those of conv2d.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LAUNCH_LINEAR_CONV2D_H
#define BRAID_KERNELS_CUDA_LAUNCH_LINEAR_CONV2D_H

#include "kernels/kernel.h"

_Static_assert((int)LINEAR_X == (int)CONV2D_X && (int)LINEAR_W == (int)CONV2D_W &&
                   (int)LINEAR_BIAS == (int)CONV2D_BIAS && (int)LINEAR_MASK == (int)CONV2D_MASK &&
                   (int)LINEAR_Y == (int)CONV2D_Y,
               "linear and conv2d number their slots alike");

extern const kernel_functions conv2d_fwd__cuda_direct, conv2d_bwd_data__cuda_direct, conv2d_bwd_weight__cuda_direct;
extern const kernel_functions conv2d_fwd__cuda_mma, conv2d_bwd_data__cuda_mma, conv2d_bwd_weight__cuda_mma;

/* Predicted seconds of the direct kernels: slices of the sums one after the other, each waiting for its loads. */
double linear_direct_cost(const braid_problem *p, const machine *on);

/* The convolution that equals a (checked) linear problem. */
static inline braid_problem linear_conv2d(const braid_problem *p) {
    braid_problem conv = *p;
    conv.op = BRAID_OP_CONV2D;
    conv.groups = 1;
    for (int axis = 0; axis < 2; axis++)
        conv.size[axis] = conv.filter[axis] = conv.stride[axis] = conv.dilation[axis] = 1;
    return conv;
}

#endif
