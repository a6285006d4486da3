/*
 * conv2d weight gradient for few input channels on CUDA, two launches for all streams: conv2d_bwd_weight_lines.cu makes
 * the sums of parts of the pixels in the workspace, weight_sum.cu adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_lines_launch.h"
#include "kernels/cuda/weight_sum_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_lines_args args;
    (void)d;
    *state = NULL;
    (void)conv2d_lines_fill(&args, p, NULL);
    return weight_sum_bytes(p, args.parts, workspace_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_lines_refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names[] = {
        {NULL, "conv2d_bwd_weight_lines_64_f16", "conv2d_bwd_weight_lines_64_bf16"},
        {NULL, "conv2d_bwd_weight_lines_16_f16", "conv2d_bwd_weight_lines_16_bf16"},
        {NULL, "conv2d_bwd_weight_lines_8_f16", "conv2d_bwd_weight_lines_8_bf16"},
        {NULL, "conv2d_bwd_weight_lines_64_raw_f16", "conv2d_bwd_weight_lines_64_raw_bf16"},
        {NULL, "conv2d_bwd_weight_lines_16_raw_f16", "conv2d_bwd_weight_lines_16_raw_bf16"},
        {NULL, "conv2d_bwd_weight_lines_8_raw_f16", "conv2d_bwd_weight_lines_8_raw_bf16"},
    };
    struct conv2d_lines_args args;
    (void)state;
    TRY(conv2d_lines_launch(&args, p, d, "conv2d_bwd_weight_lines", names, b));
    return weight_sum_conv2d(p, args.parts, d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_lines = {
    .supports = supports, .cost = conv2d_lines_cost, .create = create, .launch = launch, .destroy = launch_destroy};
