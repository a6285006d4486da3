/*
 * The arguments of maxpool, forward and gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_POOL_MAXPOOL_H
#define BRAID_KERNELS_CUDA_POOL_MAXPOOL_H

#include "kernels/cuda/tile/pixels.h"

struct maxpool_fwd_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    struct pixel_window window;
    int32_t planes;
};
PIXEL_ARGS_BYTES(maxpool_fwd_args, 688);

struct maxpool_bwd_data_args {
    struct {
        const void *x, *dy;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    struct pixel_window window;
    int32_t planes;
};
PIXEL_ARGS_BYTES(maxpool_bwd_data_args, 760);

#endif
