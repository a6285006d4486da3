/*
 * The argument of cast.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_CAST_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_CAST_H

#include "kernels/cuda/tile/pixels.h"

struct cast_args {
    struct {
        const void *x;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
    int32_t to; /* the dtype of y */
};
PIXEL_ARGS_BYTES(cast_args, 640);

#endif
