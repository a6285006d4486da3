/*
 * balance forward on CUDA, one launch for all streams: sums of blocks, and by the last of them what follows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/loss/totals.h"

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_totals(p, p->size, state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"totals",
                                            {"balance_squares_f32", "balance_squares_f16", "balance_squares_bf16"}};
    struct balance_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), p);
    args.eps = BALANCE_EPS;
    args.totals = b->workspace;
    args.counters = cuda_counters(d, 1);
    args.loss = b->plane[BALANCE_LOSS][0];
    args.norms = b->plane[BALANCE_NORMS][0];
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].x = b->plane[BALANCE_X][i];
    }
    return pixels_launch_totals(PIXELS(&args), p, p->size, d, &functions);
}

const kernel_functions balance_fwd__cuda_direct = {
    .supports = pixels_refuse, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
