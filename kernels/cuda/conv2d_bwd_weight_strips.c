/*
 * conv2d weight gradient for few channels on both sides on CUDA, two launches for all streams:
 * conv2d_bwd_weight_strips.cu makes the sums of parts of the pixels in the workspace, weight_sum.cu adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_strips_launch.h"
#include "kernels/cuda/weight_sum_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_strips_args args;
    (void)d;
    *state = NULL;
    (void)conv2d_strips_fill(&args, p, NULL);
    return weight_sum_bytes(p, args.parts, workspace_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_strips_refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    struct conv2d_strips_args args;
    (void)state;
    TRY(conv2d_strips_weight(&args, p, d, b));
    return weight_sum_conv2d(p, args.parts, d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_strips = {
    .supports = supports, .cost = conv2d_strips_cost, .create = create, .launch = launch, .destroy = launch_destroy};
