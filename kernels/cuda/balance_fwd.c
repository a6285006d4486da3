/*
 * balance forward on CUDA, one launch for all streams: sums of blocks, and by the last of them what follows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/pixels_launch.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_totals(p, p->size, state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"totals",
                                            {"balance_squares_f32", "balance_squares_f16", "balance_squares_bf16"}};
    struct pixel_args args;
    (void)state;
    pixels_begin(&args, p);
    args.eps = BALANCE_EPS;
    args.loss = b->plane[BALANCE_LOSS][0];
    args.norms = b->plane[BALANCE_NORMS][0];
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BALANCE_X][i];
    }
    return pixels_launch_totals(&args, p, p->size, b, d, &functions);
}

const kernel_functions balance_fwd__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
