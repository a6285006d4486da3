/*
 * The argument of add.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_ADD_H
#define BRAID_KERNELS_CUDA_ELEMENTWISE_ADD_H

#include "kernels/cuda/tile/pixels.h"

struct add_args {
    struct {
        const void *x, *z;
        void *y;
        PIXEL_PLANE;
    } plane[BRAID_MAX_PLANES];
    struct pixel_map map;
    int32_t planes;
};
PIXEL_ARGS_BYTES(add_args, 712);

#endif
