/*
 * The argument of the gradient of mse.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LOSS_MSE_BWD_DATA_H
#define BRAID_KERNELS_CUDA_LOSS_MSE_BWD_DATA_H

#include "kernels/cuda/tile/pixels.h"

struct mse_bwd_data_args {
    struct {
        const void *x, *t;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    const float *dloss;
};
PIXEL_ARGS_BYTES(mse_bwd_data_args, 720);

#endif
