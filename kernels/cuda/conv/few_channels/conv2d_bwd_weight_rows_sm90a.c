/*
 * conv2d weight gradient for few input channels on Hopper's matrix units, two launches for all streams:
 * conv2d_bwd_weight_rows_sm90a.cu makes the sums of parts of the pixels in the workspace, weight_sum.cu adds them in
 * order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_rows_refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_rows_args args;
    (void)d;
    *state = NULL;
    (void)conv2d_rows_fill(&args, p);
    return weight_sum_bytes(p, conv2d_rows_parts(&args), workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_bwd_weight_rows_f16", "conv2d_bwd_weight_rows_bf16"};
    struct conv2d_rows_args args;
    (void)state;
    TRY(conv2d_rows_launch(&args, p, d, "conv2d_bwd_weight_rows_sm90a", &names, b));
    return weight_sum_conv2d(p, conv2d_rows_parts(&args), d, b);
}

const kernel_functions conv2d_bwd_weight__cuda_rows_wgmma = {
    .supports = supports, .cost = conv2d_rows_cost, .create = create, .launch = launch, .destroy = launch_destroy};
