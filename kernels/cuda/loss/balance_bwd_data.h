/*
 * The argument of the gradient of balance.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LOSS_BALANCE_BWD_DATA_H
#define BRAID_KERNELS_CUDA_LOSS_BALANCE_BWD_DATA_H

#include "kernels/cuda/tile/pixels.h"

struct balance_bwd_data_args {
    struct {
        const void *x;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    const float *dloss;
    const float *norms;
    double eps;
};
PIXEL_ARGS_BYTES(balance_bwd_data_args, 664);

#endif
