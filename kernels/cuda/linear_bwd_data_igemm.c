/*
 * linear data gradient on sm_80's tensor cores, by the kernel of the 1 x 1 convolution.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_igemm_launch.h"
#include "kernels/cuda/linear_conv2d.h"

static const char *supports(const braid_problem *p, const device *d) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_bwd_data__cuda_igemm.supports(&conv, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_bwd_data__cuda_igemm.launch(&conv, d, state, b);
}

IGEMM_KERNEL(linear_bwd_data__cuda_igemm, supports, NULL, launch, NULL)
IGEMM_KERNEL(linear_bwd_data_tf32__cuda_igemm, supports, NULL, launch, NULL)
IGEMM_KERNEL_F32(linear_bwd_data_f32__cuda_igemm, supports, NULL, launch, NULL)
