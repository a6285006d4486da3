/*
 * conv2d weight gradient on sm_80's tensor cores, two launches for all streams: conv2d_bwd_weight_mma.cu makes the
 * sums of parts of the pixels in the workspace, weight_sum.cu adds them in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/mma/conv2d_mma_launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct conv2d_args args;
    (void)d;
    *state = NULL;
    (void)conv2d_mma_fill(&args, p, NULL);
    return weight_sum_bytes(p, args.parts, workspace_bytes);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = conv2d_mma_refuses(p, d);
    return reason ? reason : weight_sum_refuses(p);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const mma_names names = {
        "conv2d_bwd_weight_mma",
        {"conv2d_bwd_weight_mma_f32", "conv2d_bwd_weight_mma_f16", "conv2d_bwd_weight_mma_bf16"},
        "conv2d_bwd_weight_mma_tf32"};
    struct conv2d_args args;
    (void)state;
    TRY(conv2d_mma_launch(&args, p, d, &names, b));
    return weight_sum_conv2d(p, args.parts, d, b);
}

MMA_KERNEL(conv2d_bwd_weight__cuda_mma, supports, create, launch, launch_destroy)
MMA_KERNEL(conv2d_bwd_weight_tf32__cuda_mma, supports, create, launch, launch_destroy)
MMA_KERNEL_F32(conv2d_bwd_weight_f32__cuda_mma, supports, create, launch, launch_destroy)
