/*
 * mse forward on CUDA: sums of blocks, and the mean by the last of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/loss/totals.h"

static const int64_t one_pixel[2] = {1, 1}; /* a row of x */

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem image = pixels_image(p, one_pixel);
    return pixels_refuse(&image, d);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    const braid_problem image = pixels_image(p, one_pixel);
    (void)d;
    return pixels_create_totals(&image, image.size, state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"totals", {"mse_distances_f32", "mse_distances_f16", "mse_distances_bf16"}};
    const braid_problem image = pixels_image(p, one_pixel);
    struct mse_fwd_args args;
    (void)state;
    pixels_begin(PIXELS(&args), &image);
    args.plane[0].x = b->plane[MSE_X][0];
    args.plane[0].t = b->plane[MSE_T][0];
    args.totals = b->workspace;
    args.counters = cuda_counters(d, 1);
    args.loss = b->plane[MSE_LOSS][0];
    return pixels_launch_totals(PIXELS(&args), &image, image.size, d, &functions);
}

const kernel_functions mse_fwd__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
