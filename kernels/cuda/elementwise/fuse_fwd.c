/*
 * fuse forward on CUDA: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/fuse_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"fuse", {"fuse_fwd_f32", "fuse_fwd_f16", "fuse_fwd_bf16"}};
    const int64_t one_pixel[2] = {1, 1};
    struct fuse_args args;
    (void)state;
    fuse_fill(&args, p, b);
    args.y = b->plane[FUSE_Y][0];
    return pixels_launch(PIXELS(&args), p, one_pixel, d, &functions);
}

const kernel_functions fuse_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
