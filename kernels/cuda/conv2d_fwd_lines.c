/*
 * conv2d forward for few input channels on CUDA: all streams in one launch of conv2d_fwd_lines.cu.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv2d_lines_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names wide = {NULL, "conv2d_fwd_lines_64_f16", "conv2d_fwd_lines_64_bf16"};
    static const launch_names middle = {NULL, "conv2d_fwd_lines_16_f16", "conv2d_fwd_lines_16_bf16"};
    static const launch_names narrow = {NULL, "conv2d_fwd_lines_8_f16", "conv2d_fwd_lines_8_bf16"};
    int columns = conv2d_lines_columns(p);
    struct conv2d_lines_args args;
    (void)state;
    if (!conv2d_lines_fill(&args, p, b)) return fail(BRAID_ERROR_ARGUMENT, "conv2d_fwd: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "conv2d_fwd_lines",
                                       .function = launch_name(columns == 64   ? &wide
                                                               : columns == 16 ? &middle
                                                                               : &narrow,
                                                               p->dtype),
                                       .blocks = args.first_block[BRAID_MAX_PLANES],
                                       .threads = LINES_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions conv2d_fwd__cuda_lines = {
    .supports = conv2d_lines_refuses, .cost = conv2d_lines_cost, .launch = launch};
