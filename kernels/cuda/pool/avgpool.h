/*
 * The arguments of avgpool, forward and gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_POOL_AVGPOOL_H
#define BRAID_KERNELS_CUDA_POOL_AVGPOOL_H

#include "kernels/cuda/tile/pixels.h"

struct avgpool_fwd_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    struct pixel_window window;
    int32_t planes;
    int32_t parts;      /* of a window ... */
    float *sums;        /* ... in the workspace ... */
    uint32_t *counters; /* ... and one for each window: arrive.cuh */
};
PIXEL_ARGS_BYTES(avgpool_fwd_args, 712);

struct avgpool_bwd_data_args {
    struct {
        const void *dy;
        void *dx;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    struct pixel_window window;
    int32_t planes;
};
PIXEL_ARGS_BYTES(avgpool_bwd_data_args, 688);

#endif
