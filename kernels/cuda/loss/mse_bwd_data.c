/*
 * mse gradient on CUDA: every element in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/loss/mse_bwd_data.h"

static const int64_t one_pixel[2] = {1, 1}; /* a row of x */

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem image = pixels_image(p, one_pixel);
    return pixels_refuse(&image, d);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const pixels_kernel functions = {"mse_bwd_data",
                                            {"mse_bwd_data_f32", "mse_bwd_data_f16", "mse_bwd_data_bf16"}};
    const braid_problem image = pixels_image(p, one_pixel);
    struct mse_bwd_data_args args;
    (void)state;
    pixels_begin(PIXELS(&args), &image);
    args.plane[0].x = b->plane[MSE_X][0];
    args.plane[0].t = b->plane[MSE_T][0];
    args.plane[0].dx = b->plane[MSE_DX][0];
    args.dloss = b->plane[MSE_LOSS][0];
    return pixels_launch(PIXELS(&args), &image, image.size, d, &functions);
}

const kernel_functions mse_bwd_data__cuda_direct = {.supports = supports, .cost = launch_cost, .launch = launch};
