/*
 * linear forward on sm_80's tensor cores, by the kernel of the 1 x 1 convolution.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/mma/conv2d_mma_launch.h"
#include "kernels/cuda/launch/linear_conv2d.h"

static const char *supports(const braid_problem *p, const device *d) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_fwd__cuda_mma.supports(&conv, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_fwd__cuda_mma.launch(&conv, d, state, b);
}

MMA_KERNEL(linear_fwd__cuda_mma, supports, NULL, launch, NULL)
MMA_KERNEL(linear_fwd_tf32__cuda_mma, supports, NULL, launch, NULL)
MMA_KERNEL_F32(linear_fwd_f32__cuda_mma, supports, NULL, launch, NULL)
