/*
 * conv2d data gradient on sm_80's tensor cores: all streams in one launch of conv2d_bwd_data_mma.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/mma/conv2d_mma_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const mma_names names = {"conv2d_bwd_data_mma",
                                    {"conv2d_bwd_data_mma_f32", "conv2d_bwd_data_mma_f16", "conv2d_bwd_data_mma_bf16"},
                                    "conv2d_bwd_data_mma_tf32"};
    struct conv2d_args args;
    (void)state;
    return conv2d_mma_launch(&args, p, d, &names, b);
}

MMA_KERNEL(conv2d_bwd_data__cuda_mma, conv2d_mma_refuses, NULL, launch, NULL)
MMA_KERNEL(conv2d_bwd_data_tf32__cuda_mma, conv2d_mma_refuses, NULL, launch, NULL)
MMA_KERNEL_F32(conv2d_bwd_data_f32__cuda_mma, conv2d_mma_refuses, NULL, launch, NULL)
