/*
 * linear data gradient on CUDA, by the kernel of the 1 x 1 convolution.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/launch/linear_conv2d.h"

static const char *supports(const braid_problem *p, const device *d) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_bwd_data__cuda_direct.supports(&conv, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_problem conv = linear_conv2d(p);
    return conv2d_bwd_data__cuda_direct.launch(&conv, d, state, b);
}

const kernel_functions linear_bwd_data__cuda_direct = {
    .supports = supports, .cost = linear_direct_cost, .launch = launch};
