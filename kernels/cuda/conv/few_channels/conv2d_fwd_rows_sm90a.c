/*
 * conv2d forward for few input channels on Hopper's matrix units, one launch for all streams.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)p;
    (void)d;
    *state = NULL;
    *workspace_bytes = 0;
    return BRAID_OK;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_fwd_rows_f16", "conv2d_fwd_rows_bf16"};
    struct conv2d_rows_args args;
    (void)state;
    return conv2d_rows_launch(&args, p, d, "conv2d_fwd_rows_sm90a", &names, b);
}

const kernel_functions conv2d_fwd__cuda_rows_wgmma = {.supports = conv2d_rows_refuses,
                                                      .cost = conv2d_rows_cost,
                                                      .create = create,
                                                      .launch = launch,
                                                      .destroy = launch_destroy};
