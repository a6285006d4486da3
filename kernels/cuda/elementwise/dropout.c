/*
 * dropout on CUDA, forward and gradient, which are the same function of other operands: all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/dropout.h"
#include "kernels/cuda/launch/pixels_launch.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"dropout", {"dropout_f32", "dropout_f16", "dropout_bf16"}};
    const int from = p->pass == BRAID_PASS_FWD ? DROPOUT_X : DROPOUT_Y;
    const int to = p->pass == BRAID_PASS_FWD ? DROPOUT_Y : DROPOUT_X;
    struct dropout_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.key = b->plane[DROPOUT_KEY][0];
    args.limit = dropout_limit(p);
    args.kept = (float)(1 / (1 - p->rate));
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[from][i];
        args.plane[i].y = b->plane[to][i];
    }
    return pixels_launch_flat(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions dropout_fwd__cuda_direct = {.supports = pixels_refuse, .cost = launch_cost, .launch = launch};
const kernel_functions dropout_bwd_data__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .launch = launch};
