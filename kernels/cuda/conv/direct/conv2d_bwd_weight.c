/*
 * conv2d weight gradient on CUDA, two launches for all streams: conv2d_bwd_weight.cu makes the sums of
 * parts of the pixels in the workspace, weight_sum.cu adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/conv2d_launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_args args;
    (void)d;
    *state = NULL;
    conv2d_fill(&args, p, NULL);
    return weight_sum_bytes(p, args.parts, workspace_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"conv2d_bwd_weight_f32", "conv2d_bwd_weight_f16", "conv2d_bwd_weight_bf16"};
    struct conv2d_args args;
    (void)state;
    conv2d_fill(&args, p, b);
    TRY(conv2d_launch(&args, d, p->dtype, "conv2d_bwd_weight", &names));
    return weight_sum_conv2d(p, args.parts, d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
